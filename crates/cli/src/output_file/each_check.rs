//! Does each check of a result's place refuse by itself? Needs root and loop devices.

use super::*;

use crate::loops::{LoopDevice, attach, require_or_skip};

#[test]
fn a_file_in_use_and_an_input_are_not_replaced() {
    if !require_or_skip("a_file_in_use_and_an_input_are_not_replaced", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(1 << 20);
    let used = OutputFile::check(&device.image, "-o", &Inputs::default()).unwrap_err();
    let refused = matches!(used.downcast_ref(), Some(TargetError::Refused { code: "held", .. }));
    assert!(refused, "{used:#}");
    let input = device.beside("input");
    fs::write(&input, "words").unwrap();
    OutputFile::check(&input, "-o", &Inputs::default()).unwrap();
    let inputs = Inputs::default().words(Some(&input));
    assert!(OutputFile::check(&input, "-o", &inputs).is_err());
    let link = device.beside("link");
    std::os::unix::fs::symlink(&input, &link).unwrap();
    assert!(OutputFile::check(&link, "-o", &inputs).is_err(), "by another name");
}

#[test]
fn a_file_that_somebody_began_to_use_is_not_replaced() {
    if !require_or_skip("a_file_that_somebody_began_to_use_is_not_replaced", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(1 << 20);
    let path = device.beside("result");
    let earlier = vec![7; 1 << 20];
    fs::write(&path, &earlier).unwrap();
    let begun = OutputFile::create(&path, "-o", &Inputs::default()).unwrap();
    let _node = attach(&path, &[]);
    let used = begun.put_in_place().unwrap_err();
    let refused = matches!(used.downcast_ref(), Some(TargetError::Refused { code: "held", .. }));
    assert!(refused, "{used:#}");
    assert!(fs::read(&path).unwrap() == earlier);
}
