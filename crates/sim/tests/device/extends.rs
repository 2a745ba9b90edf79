//! Does a model that extends another one have the values of that one, less those that it gives or refuses?

use sim::model::{ModelValue, built_in};
use sim::{Model, ModelError};

const EXTREME: &str = "sandisk-extreme-ii-480gb";

/// A child of the SanDisk with half of the dies.
const HALF: &str = r#"
extends = "sandisk-extreme-ii-480gb"
name = "half a drive"
capacity_gb = { value = 240, from = "rated: test" }
nand.dies_per_channel = { value = 4, from = "assumed: test" }
facts.family = { value = "halves", from = "published: test" }
"#;

fn parent() -> Model {
    Model::load(EXTREME, built_in(EXTREME).unwrap(), &[]).unwrap()
}

fn load(text: &str) -> Model {
    Model::load("child", text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The refusal of a model beside the files of `files`.
fn refusal(text: &str, files: &[(&str, &str)]) -> String {
    let beside = |name: &str| {
        let file = files.iter().find(|(file, _)| *file == name);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    };
    let loaded: Result<Model, ModelError> =
        Model::load_beside("./here/child.toml", text, &[], &beside);
    loaded.expect_err("the model must be refused").to_string()
}

#[test]
fn a_child_has_the_values_of_its_parent_but_its_own() {
    let (child, parent) = (load(HALF), parent());
    assert_eq!((child.capacity_gb.unwrap().value, child.nand.dies_per_channel.value), (240, 4));
    assert_eq!(child.nand.channels, parent.nand.channels);
    assert_eq!(child.power, parent.power);
    assert_eq!(child.facts.controller, parent.facts.controller);
    assert_eq!(child.facts.family.unwrap().value, "halves");
}

#[test]
fn what_a_child_is_without_is_gone_unless_it_gives_it_itself() {
    let without =
        |keys: &str| load(&HALF.replacen("name", &format!("without = [{keys}]\nname"), 1));
    assert!(parent().power.unwrap().slumber.is_some());
    assert!(without("'power.slumber'").power.unwrap().slumber.is_none());
    let (bare, family) = (without("'power', 'host', 'facts'"), Some("halves"));
    assert_eq!((bare.power, bare.host), (None, None));
    assert_eq!(bare.facts.family.as_ref().map(|family| family.value.as_str()), family);
    assert!(bare.facts.controller.is_none());
}

#[test]
fn rated_figures_and_prices_are_never_inherited() {
    let middle = HALF.to_owned()
        + r#"
facts.rated.random_read_iops = { value = 95000, conditions = "QD 32", from = "rated: test" }
facts.price = { amount_cents = 100, currency = "USD", date = "2013", from = "published: test" }
"#;
    let with_rates = load(&middle);
    assert_eq!(with_rates.facts.rated.random_read_iops.unwrap().value, 95_000);
    let child = "extends = 'middle.toml'\nname = 'child'";
    let child = Model::load_beside("child.toml", child, &[], &|_| Ok(middle.clone())).unwrap();
    assert!(child.facts.rated.random_read_iops.is_none() && child.facts.price.is_none());
    assert_eq!(child.facts.family.unwrap().value, "halves");
}

#[test]
fn values_tell_the_model_that_gives_them() {
    let child =
        "extends = 'half.toml'\nname = 'child'\nhost = { value = 'none', from = 'assumed: test' }";
    let values = Model::values("child.toml", child, &|_| Ok(HALF.to_owned())).unwrap();
    let origin = |key: &str| {
        let found = values.iter().find(|value| value.key == key);
        found.and_then(|ModelValue { inherited_from, .. }| inherited_from.as_deref())
    };
    assert_eq!(origin("host"), None);
    assert_eq!(origin("nand.dies_per_channel"), Some("half.toml"));
    assert_eq!(origin("nand.channels"), Some(EXTREME));
}

#[test]
fn parents_that_cannot_be_are_refused_with_key_value_and_rule() {
    let child = |lines: &str| format!("{lines}\nname = 'child'");
    let nobody = [];
    for (text, files, words) in [
        (
            child("extends = 'nobody'"),
            &nobody[..],
            vec!["`extends` is `nobody`", "built-in", "ssdlab sim models"],
        ),
        (child("extends = 'gone.toml'"), &nobody, vec!["`extends` is `gone.toml`", "no such file"]),
        (child("extends = '../a.toml'"), &nobody, vec!["is `../a.toml`", "beside this one"]),
        (child("extends = 7"), &nobody, vec!["`extends` is `7`", "name of a model"]),
        (
            child("extends = 'child.toml'"),
            &nobody,
            vec!["is `child.toml`", "child.toml extends child.toml"],
        ),
        (
            child("extends = 'a.toml'"),
            &[("a.toml", "extends = 'b.toml'"), ("b.toml", "extends = 'a.toml'")],
            vec!["`b.toml`", "a.toml extends b.toml extends a.toml"],
        ),
        (child("without = ['power']"), &nobody, vec!["`without` is", "power", "extends"]),
        (HALF.replacen("name", "without = 'power'\nname", 1), &nobody, vec!["`without`", "list"]),
        (
            HALF.replacen("name", "without = ['power.slumbre']\nname", 1),
            &nobody,
            vec!["`without` is `power.slumbre`", EXTREME, "no such table"],
        ),
        (
            HALF.replacen("name", "without = ['nand.planes.from']\nname", 1),
            &nobody,
            vec!["`without` is `nand.planes.from`"],
        ),
        (HALF.replace("name = \"half a drive\"", ""), &nobody, vec!["missing field `name`"]),
        (HALF.replace("dies_per_channel", "dyes"), &nobody, vec![EXTREME, "dyes", "nand"]),
        (HALF.replace("published: test", "a friend"), &nobody, vec!["facts.family.from", "rated:"]),
    ] {
        let message = refusal(&text, files);
        for word in words {
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}

#[test]
fn a_line_of_parents_ends() {
    let endless = |name: &str| {
        let number: u32 = name.trim_end_matches(".toml").parse().unwrap();
        Ok(format!("extends = '{}.toml'\nname = 'n'", number + 1))
    };
    let model = Model::load_beside("0.toml", &endless("0.toml").unwrap(), &[], &endless);
    let message = model.unwrap_err().to_string();
    assert!(message.contains("at most 16 models"), "{message}");
}

#[test]
fn facts_are_refused_with_key_value_and_rule() {
    let with = |line: &str| refusal(&format!("{HALF}{line}\n"), &[]);
    for (line, words) in [
        ("facts.nand_type = { value = 'PLC', from = 'published: test' }", ["PLC", "QLC"]),
        ("facts.use = { value = 'server', from = 'published: test' }", ["server", "data centre"]),
        ("facts.dies = { value = 'many', from = 'published: test' }", ["many", "dies"]),
        ("facts.colour = { value = 'red', from = 'published: test' }", ["colour", "controller"]),
        (
            "facts.price = { amount_cents = 1, currency = 'EURO', date = '2013', from = 'rated: test' }",
            ["`facts.price.currency` is `EURO`", "three capital letters"],
        ),
        (
            "facts.price = { amount_cents = 1, currency = 'EUR', date = '2013', from = 'a shop' }",
            ["`facts.price.from` is `a shop`", "published:"],
        ),
    ] {
        let message = with(line);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}
