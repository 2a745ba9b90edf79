//! The packages that the program contains: crates, and the npm packages in its page.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use xtask::proc;
use xtask::workspace::Workspace;

/// One package.
pub(super) struct Component {
    /// Type of its package URL: `cargo` or `npm`.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) version: String,
    /// SPDX expression.
    pub(super) licence: String,
    /// Its sources, with the texts of its licences.
    pub(super) dir: PathBuf,
    /// SHA-256 of its archive in hexadecimal digits, or `None` if the lock file names none.
    pub(super) sha256: Option<String>,
}

/// All packages below `ssdlab-cli` but those of this repository, by kind, name and version.
pub(super) fn of_program(workspace: &Workspace) -> Result<Vec<Component>> {
    let mut components = crates(workspace)?;
    components.extend(page(workspace)?);
    ensure!(components.len() > 50, "only {} packages: metadata read wrongly", components.len());
    Ok(components)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl Dependency {
    /// Whether the program contains it, and not its build or its tests alone.
    fn is_in_the_program(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

fn crates(workspace: &Workspace) -> Result<Vec<Component>> {
    let mut cargo = workspace.cargo(["metadata", "--format-version=1", "--locked"]);
    cargo.arg("--filter-platform").arg(workspace.host());
    let metadata: Metadata = serde_json::from_str(&proc::capture_quietly(&mut cargo)?)?;
    let packages: HashMap<_, _> = metadata.packages.iter().map(|it| (it.id.as_str(), it)).collect();
    let nodes: HashMap<_, _> =
        metadata.resolve.nodes.iter().map(|it| (it.id.as_str(), it)).collect();
    let program = metadata.packages.iter().find(|package| package.name == "ssdlab-cli");
    let mut open = vec![program.context("no package ssdlab-cli")?.id.as_str()];
    let mut found = BTreeMap::new();
    while let Some(id) = open.pop() {
        let package = packages.get(id).context("a node without a package")?;
        if found.insert((&package.name, &package.version), *package).is_none() {
            let node = nodes.get(id).context("a package without a node")?;
            let used = node.deps.iter().filter(|dependency| dependency.is_in_the_program());
            open.extend(used.map(|dependency| dependency.pkg.as_str()));
        }
    }
    let sums = checksums(workspace)?;
    let foreign = found.into_iter().filter(|(_, package)| package.source.is_some());
    foreign
        .map(|((name, version), package)| {
            let licence = package.license.clone();
            let dir = package.manifest_path.parent().context("a manifest of no folder")?;
            Ok(Component {
                kind: "cargo",
                name: name.clone(),
                version: version.clone(),
                licence: licence
                    .with_context(|| format!("{name} names no licence"))?
                    .replace('/', " OR "),
                dir: dir.to_owned(),
                sha256: sums.get(&(name.clone(), version.clone())).cloned(),
            })
        })
        .collect()
}

/// The sums in Cargo.lock.
fn checksums(workspace: &Workspace) -> Result<HashMap<(String, String), String>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    #[derive(Deserialize)]
    struct Locked {
        name: String,
        version: String,
        checksum: Option<String>,
    }
    let lock: Lock = toml::from_str(&std::fs::read_to_string(workspace.path("Cargo.lock"))?)?;
    let sums = lock.package.into_iter();
    Ok(sums.filter_map(|it| Some(((it.name, it.version), it.checksum?))).collect())
}

/// The packages of `web/` that are in the page, and not its tools.
fn page(workspace: &Workspace) -> Result<Vec<Component>> {
    #[derive(Deserialize)]
    struct Lock {
        packages: BTreeMap<String, Locked>,
    }
    #[derive(Deserialize)]
    struct Locked {
        version: Option<String>,
        license: Option<String>,
        #[serde(default)]
        dev: bool,
        #[serde(default, rename = "devOptional")]
        is_dev_optional: bool,
    }
    let lock = std::fs::read_to_string(workspace.path("web/package-lock.json"))?;
    let lock: Lock = serde_json::from_str(&lock)?;
    let in_page = |(path, locked): (String, Locked)| {
        let name = path.strip_prefix("node_modules/")?.to_owned();
        (!locked.dev && !locked.is_dev_optional).then_some((name, path, locked))
    };
    let component = |(name, path, locked): (String, String, Locked)| {
        Ok(Component {
            kind: "npm",
            version: locked.version.context("a package without a version")?,
            licence: locked.license.with_context(|| format!("{name} names no licence"))?,
            dir: workspace.path("web").join(path),
            sha256: None,
            name,
        })
    };
    lock.packages.into_iter().filter_map(in_page).map(component).collect()
}
