//! The naming thread: its requests, its results, and what remains if it fails.

use crate::collect::sampler::{KERNEL, ModuleFile, ModuleFiles, NAMED_BELOW};
use crate::model::{Definition, Event, FrameDef, FrameId, ModuleDef, ModuleId, ModuleKind, Note, ObjectFile, ReadAt};
use crate::session::naming::{HostFiles, NameClient, Namer};
use crate::symbols::ModuleSource;
use crate::sys::files::{object, own_vdso};
use object::{Object, ObjectSymbol};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No process has it.
const NOBODY: u32 = 4_194_305;

fn module(id: u32, kind: ModuleKind, file: Option<ObjectFile>, root: &Path) -> ModuleFile {
    let def = ModuleDef { id: ModuleId(id), kind, path: "[it]".to_string(), build_id: None, pid: NOBODY };
    ModuleFile { def, file, root: root.to_path_buf(), user: 0 }
}

/// The kernel, and one more module.
fn modules(second: ModuleFile) -> Arc<ModuleFiles> {
    let files = ModuleFiles::default();
    files.add(module(0, ModuleKind::Kernel, None, Path::new("/")));
    files.add(second);
    Arc::new(files)
}

fn frame(id: u32, module: Option<u32>, address: u64) -> Event {
    Event::Define(Definition::Frame(FrameDef { id: FrameId(id), module: module.map(ModuleId), address }))
}

/// Everything that is found for these frames.
fn named(modules: Arc<ModuleFiles>, frames: &[Event]) -> (Vec<(u32, String)>, Vec<Note>) {
    let namer = Namer::start(modules, HostFiles::default());
    namer.ask(frames);
    let (events, notes) = namer.finish(|| false);
    (names(&events), notes)
}

fn names(events: &[Event]) -> Vec<(u32, String)> {
    let name = |event: &Event| match event {
        Event::Define(Definition::Names { frame, symbols }) => Some((frame.0, symbols[0].function.clone())),
        _ => None,
    };
    events.iter().filter_map(name).collect()
}

/// The file offset of a function of the vdso; `None` on a machine without one.
fn vdso_function() -> Option<(ObjectFile, u64, String)> {
    let Some(image) = own_vdso() else {
        crate::skips::skip("vdso", "the kernel maps no vDSO into this process");
        return None;
    };
    let file = object::File::parse(&*image).ok()?;
    let symbol = file.dynamic_symbols().find(|symbol| symbol.is_definition() && symbol.size() > 0)?;
    let (address, name) = (symbol.address(), symbol.name().ok()?.to_string());
    Some((ObjectFile::new(image), address, name))
}

#[test]
fn a_function_is_named_and_what_is_no_function_is_not() {
    let Some((image, address, name)) = vdso_function() else { return };
    let modules = modules(module(1, ModuleKind::Vdso, Some(image), Path::new("/")));
    let frames =
        [frame(3, Some(1), address), frame(4, Some(1), u64::MAX), frame(5, None, address), frame(6, Some(9), 1)];
    let (names, notes) = named(modules, &frames);
    assert_eq!(names.iter().map(|(frame, _)| *frame).collect::<Vec<_>>(), [3]);
    assert!(names[0].1.trim_start_matches('_').contains(name.trim_start_matches('_')), "{names:?} is not {name}");
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn every_frame_of_many_batches_is_answered_once() {
    let Some((image, address, _)) = vdso_function() else { return };
    let modules = modules(module(1, ModuleKind::Vdso, Some(image), Path::new("/")));
    let frames: Vec<_> = (0..1000).map(|id| frame(id, Some(1), address)).collect();
    let namer = Namer::start(modules, HostFiles::default());
    let mut found = Vec::new();
    for batch in frames.chunks(300) {
        namer.ask(batch);
        found.extend(names(&namer.ready()));
    }
    found.extend(names(&namer.finish(|| false).0));
    let ids: Vec<u32> = found.into_iter().map(|(frame, _)| frame).collect();
    assert_eq!(ids, (0..1000).collect::<Vec<_>>());
}

#[test]
fn names_that_the_sampler_gave_are_not_asked_for() {
    let modules = modules(module(1, ModuleKind::Jit, None, Path::new("/nowhere")));
    let kernel = Some(KERNEL.0);
    let (names, notes) = named(modules, &[frame(0, kernel, 1), frame(1, kernel, NAMED_BELOW - 1)]);
    assert!(names.is_empty() && notes.is_empty(), "the kernel's symbols were not even opened: {notes:?}");
}

#[test]
fn a_runtime_may_write_its_names_after_its_code_was_seen() {
    let root = tempfile::tempdir().unwrap();
    let modules = modules(module(1, ModuleKind::Jit, None, root.path()));
    let namer = Namer::start(modules, HostFiles::default());
    namer.ask(&[frame(0, Some(1), 0x1008), frame(1, Some(1), 0x9999)]);
    std::fs::create_dir(root.path().join("tmp")).unwrap();
    std::fs::write(root.path().join(format!("tmp/perf-{NOBODY}.map")), "1000 10 render\n").unwrap();
    let (events, notes) = namer.finish(|| false);
    assert_eq!(names(&events), [(0, "render".to_string())]);
    assert_eq!(notes.iter().map(|note| note.topic.as_str()).collect::<Vec<_>>(), ["jit-without-names"]);
}

/// A file that cannot be read.
struct Broken;

impl ReadAt for Broken {
    fn length(&self) -> u64 {
        4096
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::Other.into())
    }
}

#[test]
fn a_module_that_ends_the_naming_costs_its_own_names_and_is_noted() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("tmp")).unwrap();
    std::fs::write(root.path().join(format!("tmp/perf-{NOBODY}.map")), "200000 10 render\n").unwrap();
    let files = ModuleFiles::default();
    files.add(module(0, ModuleKind::Jit, None, root.path()));
    files.add(module(1, ModuleKind::File, Some(ObjectFile::new(Broken)), Path::new("/")));
    let namer = Namer::start(Arc::new(files), HostFiles::default());
    namer.ask(&[frame(0, Some(0), 0x20_0008)]);
    namer.ask(&[frame(1, Some(1), 7)]);
    namer.ask(&[frame(2, Some(0), 0x20_0009)]);
    let (events, notes) = namer.finish(|| false);
    assert_eq!(names(&events), [(0, "render".to_string()), (2, "render".to_string())]);
    assert_eq!(notes.iter().map(|note| note.topic.as_str()).collect::<Vec<_>>(), ["names-lost"]);
    assert!(notes[0].text.contains("[it]"), "{}", notes[0].text);
}

#[test]
fn a_module_whose_file_was_let_go_is_noted_once_who_had_read_it_has_ended() {
    const COUNT: u32 = 1025;
    let Some((image, address, _)) = vdso_function() else { return };
    let image = image.bytes(0, image.length()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("object");
    std::fs::write(&path, &image).unwrap();
    let source = |path: String, file| ModuleSource::File { file, path, root: PathBuf::from("/") };
    let mut client = NameClient::new(HostFiles::default());
    let mut named = |id: u32, file: Option<ObjectFile>| {
        if let Some(file) = file {
            client.add(ModuleId(id), source(format!("/lib/{id}"), file), 7);
        }
        !client.names(ModuleId(id), vec![address]).0[0].is_empty()
    };
    for id in 1..=COUNT {
        let file = object(std::fs::File::open(&path).unwrap()).unwrap();
        assert!(named(id, Some(file)), "{id}");
    }
    assert!(!named(0, Some(ObjectFile::new(Broken))));
    assert_eq!((named(1, None), named(COUNT, None)), (false, true));
    let text = client.finish().into_iter().find(|note| note.topic == "names-lost").unwrap().text;
    assert!(text.contains("/lib/0 (") && text.contains("/lib/1 (its file is closed"), "{text}");
}

/// Its own names are those that a user loses who has more files than fit, though others' were read before.
#[test]
fn who_maps_files_without_end_takes_no_names_of_others() {
    const COUNT: u32 = 1040;
    let Some((image, address, _)) = vdso_function() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("object");
    std::fs::write(&path, image.bytes(0, image.length()).unwrap()).unwrap();
    let mut client = NameClient::new(HostFiles::default());
    for id in 0..COUNT {
        let file = object(std::fs::File::open(&path).unwrap()).unwrap();
        let source = ModuleSource::File { file, path: format!("/lib/{id}"), root: PathBuf::from("/") };
        client.add(ModuleId(id), source, if id % 100 == 1 { 8 } else { 7 });
    }
    let mut named = |id| !client.names(ModuleId(id), vec![address]).0[0].is_empty();
    assert_eq!([0, 1, 2, 16, 17, 101, COUNT - 1].map(&mut named), [false, true, false, false, true, true, true]);
}
