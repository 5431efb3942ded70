//! Circles among the files of a room: what lies side by side in a folder must depend on each other in one direction.
//! The `mod.rs` of the folder is left out: a parent holds its children, and a child may use what its parent defines.

use super::source::{self, Token};
use std::collections::{BTreeMap, BTreeSet};

/// A module's file, the names it defines and the names that it brings in from elsewhere.
#[derive(Default)]
struct Module {
    path: String,
    defines: BTreeSet<String>,
    /// Name here -> path there, absolute.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    uses: Vec<(usize, Vec<String>)>,
}

/// All modules of the crate, by their path: `["view", "snapshot"]`.
pub struct Modules(BTreeMap<Vec<String>, Module>);

/// A folder and those of its entries that depend on each other in a circle, each with one edge that closes it.
pub struct Circle {
    pub folder: String,
    pub entries: Vec<String>,
    /// `file:line uses file`.
    pub edges: Vec<String>,
}

impl Modules {
    /// `files`: path relative to `src`, and text.
    pub fn of(files: &[(String, String)]) -> Modules {
        let names: BTreeSet<Vec<String>> = files.iter().map(|(path, _)| module(path)).collect();
        Modules(files.iter().map(|(path, text)| (module(path), read(path, text, &names))).collect())
    }

    /// The module that defines what `path` names, seen through re-exports.
    fn home(&self, path: &[String], depth: usize) -> Option<&Vec<String>> {
        let (at, module) = (0..=path.len()).rev().find_map(|at| Some((at, self.0.get_key_value(&path[..at])?)))?;
        let (key, module) = module;
        let Some(name) = path.get(at) else { return Some(key) };
        if module.defines.contains(name) || depth > 8 {
            return Some(key);
        }
        let onward = |target: &[String]| {
            let mut there = target.to_vec();
            there.extend_from_slice(&path[at + 1..]);
            there
        };
        if let Some(target) = module.imports.get(name) {
            return self.home(&onward(target), depth + 1);
        }
        let through_glob = module.globs.iter().find_map(|glob| {
            let mut there = glob.clone();
            there.extend_from_slice(&path[at..]);
            let home = self.home(&there, depth + 1)?;
            self.0[home].defines.contains(name).then_some(home)
        });
        Some(through_glob.unwrap_or(key))
    }

    /// Every circle among the entries of one folder, below the top level (whose walls are a table).
    pub fn circles(&self) -> Vec<Circle> {
        // Folder -> entry -> entry -> one edge.
        let mut folders: BTreeMap<&[String], BTreeMap<&str, BTreeMap<&str, String>>> = BTreeMap::new();
        for (from, module) in &self.0 {
            for (line, used) in &module.uses {
                let Some(to) = self.home(used, 0) else { continue };
                let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
                let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) else { continue };
                if shared > 0 {
                    let edge = || format!("src/{}:{line} uses {}", module.path, self.0[to].path);
                    let uses = folders.entry(&from[..shared]).or_default().entry(a).or_default();
                    uses.entry(b).or_insert_with(edge);
                }
            }
        }
        folders.iter().flat_map(|(folder, graph)| circles_of(&folder.join("/"), graph)).collect()
    }
}

fn circles_of(folder: &str, graph: &BTreeMap<&str, BTreeMap<&str, String>>) -> Vec<Circle> {
    let reach = |start: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start.to_string()]);
        while let Some(at) = open.pop() {
            for next in graph.get(at.as_str()).into_iter().flat_map(|uses| uses.keys()) {
                if seen.insert(next.to_string()) {
                    open.push(next.to_string());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<String>> = graph.keys().map(|entry| (*entry, reach(entry))).collect();
    let (mut found, mut done) = (Vec::new(), BTreeSet::new());
    for (entry, seen) in reached.iter().filter(|(entry, seen)| seen.contains(**entry)) {
        let both = |other: &&String| reached.get(other.as_str()).is_some_and(|back| back.contains(*entry));
        let entries: Vec<String> = seen.iter().filter(both).cloned().collect();
        if done.insert(entries.clone()) {
            let inside = |name: &str| entries.iter().any(|entry| entry == name);
            let edges = graph.iter().filter(|(from, _)| inside(from));
            let edges =
                edges.flat_map(|(_, uses)| uses.iter().filter(|(to, _)| inside(to)).map(|(_, edge)| edge.clone()));
            found.push(Circle { folder: folder.to_string(), edges: edges.collect(), entries });
        }
    }
    found
}

/// `view/snapshot/mod.rs` is the module `["view", "snapshot"]`.
fn module(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" { Vec::new() } else { path.split('/').map(String::from).collect() }
}

fn read(path: &str, text: &str, names: &BTreeSet<Vec<String>>) -> Module {
    let code = source::without_tests(&source::tokens(text));
    let here = module(path);
    let mut module = Module { path: path.to_string(), defines: defined(&code), ..Module::default() };
    let absolute = |written: &[String]| -> Option<Vec<String>> {
        let mut base = here.clone();
        let mut rest = written;
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            // A child module by its bare name; anything else is a type, a crate or an import.
            child => {
                let mut below = here.clone();
                below.push(child.to_string());
                if !names.contains(&below) {
                    return None;
                }
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    };
    let in_use = use_ranges(&code);
    for (at, line, written, alias) in source::paths(&code) {
        let Some(mut target) = absolute(&written) else { continue };
        if in_use.iter().any(|range| range.contains(&at)) {
            match target.last().map(String::as_str) {
                Some("*") => {
                    target.pop();
                    module.globs.push(target.clone());
                }
                Some("self") => {
                    target.pop();
                    module
                        .imports
                        .insert(alias.unwrap_or_else(|| target.last().cloned().unwrap_or_default()), target.clone());
                }
                Some(last) => {
                    module.imports.insert(alias.unwrap_or_else(|| last.to_string()), target.clone());
                }
                None => continue,
            }
        }
        module.uses.push((line, target));
    }
    // `scene::draw` after `use super::scene`: what an imported module's name leads to.
    for (_, line, written, _) in source::paths(&code) {
        if let Some(base) = module.imports.get(&written[0]) {
            let whole = base.iter().chain(&written[1..]).cloned().collect();
            module.uses.push((line, whole));
        }
    }
    // A re-export for others is no use by this file: those who use the name are followed to its home.
    module
}

/// Ranges of token places that lie in a `use` item.
fn use_ranges(code: &[Token]) -> Vec<std::ops::Range<usize>> {
    let starts = code.iter().enumerate().filter(|(_, token)| token.text == "use").map(|(at, _)| at);
    starts.map(|at| at..at + code[at..].iter().take_while(|token| token.text != ";").count()).collect()
}

/// Names of the items that a file defines at its own level.
fn defined(code: &[Token]) -> BTreeSet<String> {
    const ITEMS: [&str; 9] = ["struct", "enum", "fn", "trait", "type", "const", "static", "union", "macro_rules"];
    let (mut depth, mut names) = (0, BTreeSet::new());
    for (at, token) in code.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            word if depth == 0 && ITEMS.contains(&word) => {
                let name = code[at + 1..].iter().find(|next| next.text != "!" && next.text != "fn");
                names.extend(name.map(|name| name.text.clone()));
            }
            _ => {}
        }
    }
    names
}
