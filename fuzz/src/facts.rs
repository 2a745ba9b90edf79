//! Facts files: what is accepted is in the form of a run, and the facts of another drive are not taken.

use result::facts_file::FactsFile;

/// A drive that no file is about.
const STRANGER: &str = "no drive of this name";

pub(crate) fn read(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(file) = FactsFile::parse(text) else { return };
    let (model, firmware) = (&file.drives.model, file.drives.firmware.as_deref());
    assert!(file.is_about(model, firmware), "{text}");
    assert!(model == STRANGER || FactsFile::about([&file], STRANGER, firmware).is_none(), "{text}");
    let json = serde_json::to_string(&file.facts).expect("facts are a document");
    let again: base::Facts = serde_json::from_str(&json).expect("a document of our own");
    assert_eq!(again, file.facts, "{text}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let samples: [&[u8]; 4] = [
        b"[match]\nmodel = 'Samsung SSD 840 PRO Series'\nfirmware = 'DXM06B0Q'\n\n[facts]\n\
          family = { value = 'Samsung SSD 840 Pro', from = 'published: a review' }\n\
          controller = { value = 'Samsung MDX', from = 'published: a review' }\n",
        b"[match]\nmodel = 'A'\n[facts]\nnand = { value = '21nm MLC', from = 'published: x' }\n\
          nand_type = { value = 'MLC', from = 'published: x' }\n\
          use = { value = 'data centre', from = 'published: x' }\n\
          dram = { value = '512 MB', from = 'rated: x' }\n\
          interface = { value = 'SATA 6 Gb/s', from = 'published: x' }\n",
        b"match = { model = 'A' }\n[facts.rated]\n\
          sequential_read_mb_per_s = { value = 540, from = 'rated: x' }\n\
          random_write_iops = { value = 90000, from = 'rated: x' }\n\
          idle_mw = { value = 42, from = 'rated: x' }\n",
        b"match = { model = 'A', firmware = '' }\nfacts = {}\n",
    ];
    samples.map(<[u8]>::to_vec).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_a_facts_file() {
        for seed in seeds() {
            let text = String::from_utf8(seed).expect("text");
            FactsFile::parse(&text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        }
    }
}
