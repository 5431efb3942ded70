//! Finds a control group by any of its names: path, systemd unit, container id. Several matches are an error that lists
//! them.

use crate::collect::targets::{CgroupTotal, totals};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::sys::cgroupfs::{CgroupFs, Hierarchy, directories};
use std::path::{Path, PathBuf};

/// The shortest prefix accepted as a container id; `docker ps` prints 12 digits.
const SHORTEST_ID: usize = 8;

/// How many names an error lists.
const LISTED: usize = 8;

/// Finds the control groups of a list of names, separated by commas. One that is named twice counts once.
pub fn cgroups(cgroups: &CgroupFs, names: &str) -> Result<Target> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for name in names.split(',') {
        let path = find(cgroups, name.trim())?;
        if !found.iter().any(|(_, known)| *known == path) {
            found.push((name.trim().to_string(), path));
        }
    }
    let name = found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",");
    let mut paths = found.into_iter().map(|(_, path)| path);
    let path = paths.next().unwrap_or_default();
    Ok(Target::Cgroup { name, path, others: paths.collect() })
}

/// Finds a control group (`-G`): a path, absolute or below the hierarchy; a unit such as `web.service` or `web`; a
/// container id or the beginning of one, 8 digits or more. Version 2 is searched first, then version 1's `perf_event`:
/// the kernel can count events in these two.
fn find(cgroups: &CgroupFs, name: &str) -> Result<PathBuf> {
    if name.trim().is_empty() {
        return Err(
            Error::new(ErrorKind::Usage, "the control group's name is empty").hint("`ironlaw list cgroups` lists all.")
        );
    }
    let hierarchies: Vec<&Hierarchy> = cgroups.v2().into_iter().chain(cgroups.v1("perf_event")).collect();
    if hierarchies.is_empty() {
        return Err(Error::new(ErrorKind::Unsupported, "no control group hierarchy that can be profiled is mounted")
            .hint("Mount one: mount -t cgroup2 none /sys/fs/cgroup"));
    }
    if let Some(path) = hierarchies.iter().find_map(|hierarchy| by_path(hierarchy, name)) {
        return Ok(path);
    }
    for hierarchy in hierarchies {
        let groups = directories(&hierarchy.mount);
        let named: Vec<&PathBuf> = groups.iter().filter(|path| is_named(path, name)).collect();
        // A unit's own group and one inside it may share a name: the outer one contains everything.
        let inside = |path: &Path| named.iter().any(|outer| path != outer.as_path() && path.starts_with(outer));
        let found: Vec<&PathBuf> = named.iter().copied().filter(|path| !inside(path)).collect();
        match found.as_slice() {
            [only] => return Ok((*only).clone()),
            [] => {}
            several => return Err(ambiguous(name, several)),
        }
    }
    Err(unknown(name, &totals(cgroups)))
}

/// An existing directory of the hierarchy, by absolute path, by the group's path in /proc, or relative to the mount.
fn by_path(hierarchy: &Hierarchy, name: &str) -> Option<PathBuf> {
    let inside = |path: PathBuf| {
        let plain = path.components().all(|part| part.as_os_str() != "..");
        (plain && path.starts_with(&hierarchy.mount) && path.join("cgroup.procs").exists()).then_some(path)
    };
    inside(PathBuf::from(name)).or_else(|| inside(hierarchy.directory(name)))
}

/// Whether a group's directory has the unit's name or belongs to the container.
fn is_named(path: &Path, name: &str) -> bool {
    let Some(own) = path.file_name().and_then(|own| own.to_str()) else { return false };
    let own = own.replace("\\x2d", "-");
    let unit = ["", ".service", ".scope", ".slice"].iter().any(|kind| own.strip_suffix(kind) == Some(name));
    unit || container_id(&own).is_some_and(|id| is_id(name) && id.starts_with(name))
}

/// The container id in a group's name: `docker-ID.scope`, `cri-containerd-ID.scope`, `libpod-ID.scope`, or plain `ID`.
fn container_id(group: &str) -> Option<&str> {
    let stem = group.strip_suffix(".scope").unwrap_or(group);
    // Some runtimes write `slice:prefix:ID`.
    let id = stem.rsplit(['-', ':']).next()?;
    (id.len() >= 32 && is_id(id)).then_some(id)
}

fn is_id(text: &str) -> bool {
    text.len() >= SHORTEST_ID && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn ambiguous(name: &str, found: &[&PathBuf]) -> Error {
    let listed: Vec<String> = found.iter().take(LISTED).map(|path| path.display().to_string()).collect();
    let more = found.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::new(ErrorKind::Usage, format!("control group {name:?} is ambiguous: {}{rest}", listed.join(", ")))
        .hint("Give the full path of the one you mean.")
}

fn unknown(name: &str, groups: &[CgroupTotal]) -> Error {
    let error = Error::new(ErrorKind::NotFound, format!("control group {name:?} does not exist"));
    let scored = groups.iter().map(|group| {
        let own = group.path.rsplit('/').next().unwrap_or_default();
        let edits = distance(name, own).min(distance(name, &group.path));
        (edits, edits <= name.len().max(own.len()) / 2, group)
    });
    let mut listed: Vec<_> = scored.collect();
    // Without a name that is near, any group with processes is a better answer than none.
    listed.sort_by_key(|&(edits, near, group)| (!near, group.processes == 0, edits, &group.path));
    let near = listed.iter().filter(|(_, near, _)| *near).count();
    listed.truncate(if near > 0 { near.min(LISTED) } else { LISTED });
    let names: Vec<&str> = listed.iter().map(|(.., group)| group.path.as_str()).collect();
    let others = match groups.len() - names.len() {
        0 => String::new(),
        others => format!("; `ironlaw list cgroups` lists {others} more"),
    };
    match (names.as_slice(), near > 0) {
        ([], _) => error.hint("This machine shows no control group below the root."),
        (_, true) => error.hint(format!("The nearest are {}{others}.", names.join(", "))),
        (_, false) => error.hint(format!("There are {}{others}.", names.join(", "))),
    }
}

/// Distance between a typed name and a group's: the number of edits, or zero if the group's name contains it.
fn distance(typed: &str, own: &str) -> usize {
    if own.contains(typed) {
        return 0;
    }
    // No control group has a longer name.
    let short = |text: &str| text.chars().take(256).collect::<String>();
    strsim::levenshtein(&short(typed), &short(own))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::fs;

    const ID: &str = "3e14d2efeb8b00afadb4d38c6b4d30733e14d2efeb8b00afadb4d38c6b4d3073";
    const OTHER: &str = "3e14d2ef000000afadb4d38c6b4d30733e14d2efeb8b00afadb4d38c6b4d3073";
    const POD: &str = "77aa00112233445566778899aabbccddeeff00112233445566778899aabbccdd";

    fn hierarchy() -> (tempfile::TempDir, CgroupFs) {
        let root = tempfile::tempdir().unwrap();
        let groups = [
            "system.slice/web.service".to_string(),
            "system.slice/web.service/web.service".to_string(),
            "system.slice/foo\\x2dbar.service".to_string(),
            format!("system.slice/docker-{ID}.scope"),
            format!("machine.slice/libpod-{OTHER}.scope"),
            format!("kubepods.slice/pod1/{POD}"),
            "a/same".to_string(),
            "b/same".to_string(),
        ];
        for group in &groups {
            let directory = root.path().join(group);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup.procs"), "").unwrap();
        }
        let mount = root.path().to_path_buf();
        let v2 = Hierarchy { version: 2, controllers: vec![], mount, root: PathBuf::from("/") };
        (root, CgroupFs { hierarchies: vec![v2] })
    }

    fn found(groups: &CgroupFs, name: &str) -> Result<PathBuf> {
        match cgroups(groups, name)? {
            Target::Cgroup { path, others, .. } if others.is_empty() => Ok(path),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_is_found_name_by_name_and_each_group_once() {
        let (root, groups) = hierarchy();
        let target = cgroups(&groups, "web,a/same, web.service,foo-bar").unwrap();
        let path = |group: &str| root.path().join(group);
        let others = vec![path("a/same"), path("system.slice/foo\\x2dbar.service")];
        let path = path("system.slice/web.service");
        assert_eq!(target, Target::Cgroup { name: "web,a/same,foo-bar".into(), path, others });
        for (list, said) in [("web,nothing", "\"nothing\" does not exist"), ("web,", "name is empty")] {
            let error = cgroups(&groups, list).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_group_is_found_by_each_of_its_names() {
        let (root, cgroups) = hierarchy();
        let absolute = root.path().join("system.slice/web.service").display().to_string();
        let docker = format!("system.slice/docker-{ID}.scope");
        let pod = format!("kubepods.slice/pod1/{POD}");
        let rows = [
            ("system.slice/web.service", "system.slice/web.service"),
            ("/system.slice/web.service", "system.slice/web.service"),
            (absolute.as_str(), "system.slice/web.service"),
            ("web.service", "system.slice/web.service"),
            ("web", "system.slice/web.service"),
            ("foo-bar", "system.slice/foo\\x2dbar.service"),
            (ID, docker.as_str()),
            ("3e14d2efeb8b", docker.as_str()),
            ("77aa0011", pod.as_str()),
        ];
        for (name, path) in rows {
            assert_eq!(found(&cgroups, name).unwrap(), root.path().join(path), "{name}");
        }
    }

    #[test]
    fn several_matches_are_listed_and_none_is_picked() {
        let (_root, cgroups) = hierarchy();
        for (name, listed) in [("same", ["a/same", "b/same"]), ("3e14d2ef", ["docker-3e14d2efeb", "libpod-3e14d2ef00"])]
        {
            let error = found(&cgroups, name).unwrap_err();
            assert!(listed.iter().all(|part| error.to_string().contains(part)), "{error}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let (root, cgroups) = hierarchy();
        fs::write(root.path().join("b/same/cgroup.procs"), "7\n").unwrap();
        let rows = [
            ("wbe.service", "The nearest are /system.slice/web.service"),
            ("77aa001", POD),
            // One of them has processes.
            ("smae", "The nearest are /b/same, /a/same"),
            ("zzzzzzzz", "There are /b, /b/same, "),
            ("../..", "`ironlaw list cgroups` lists"),
        ];
        for (name, near) in rows {
            let error = found(&cgroups, name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            let remedy = error.remedy().unwrap();
            assert!(remedy.contains(near), "{name}: {remedy}");
            assert!(remedy.matches('/').count() < 40 && remedy.ends_with(" more."), "{name}: {remedy}");
        }
        assert_eq!(found(&CgroupFs::default(), "web").unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(found(&cgroups, " ").unwrap_err().kind(), ErrorKind::Usage);
    }
}
