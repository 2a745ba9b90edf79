//! The bill of materials: CycloneDX 1.5, <https://cyclonedx.org/docs/1.5/json/>.

use anyhow::Result;
use serde_json::{Value, json};

use super::Release;
use super::components::Component;

/// The document as JSON. It has no serial number, which would differ between two builds.
pub(super) fn document(release: &Release, components: &[Component]) -> Result<String> {
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "ssdlab",
                "name": "ssdlab",
                "version": release.version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
            "properties": [{ "name": "target", "value": release.target }],
        },
        "components": components.iter().map(component).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn component(component: &Component) -> Value {
    let Component { kind, name, version, licence, sha256, .. } = component;
    let url = format!("pkg:{kind}/{}@{version}", name.replace('@', "%40"));
    let mut value = json!({
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "licenses": [{ "expression": licence }],
        "purl": url,
    });
    if let Some(sha256) = sha256 {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    }
    value
}
