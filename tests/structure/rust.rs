//! What Rust files stand on, and how large their parts are: parsed by `syn`, tests left out.

use std::collections::BTreeSet;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::{files, Edges, Found, Sized};

/// The module path of a file below the crate's folder: `passes::heap`; nothing for the crate itself.
fn module(folder: &Path, file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(folder).expect("it lies there").with_extension("");
    let mut parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// Reads a crate's files.
pub fn read(folder: &Path) -> Found {
    let sources = files(folder, "rs");
    let modules: BTreeSet<String> = sources.iter().map(|file| module(folder, file).join("::")).collect();
    let mut found = Found::default();
    for file in sources {
        let own = module(folder, &file);
        if own.iter().any(|part| part == "tests" || part == "support") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let place = file.strip_prefix(super::root()).expect("it lies there").display().to_string();
        let mut reader =
            Reader { own: &own, modules: &modules, edges: BTreeSet::new(), place, found: &mut found };
        reader.visit_file(&parsed);
        let edges = reader.edges;
        found.edges.insert(own.join("::"), edges.into_iter().collect());
    }
    // The crate's root declares all modules; nobody stands on it by naming what it passes on.
    drop_root(&mut found.edges);
    found
}

fn drop_root(edges: &mut Edges) {
    edges.remove("");
    edges.values_mut().for_each(|others| others.retain(|other| !other.is_empty()));
}

struct Reader<'r> {
    own: &'r [String],
    modules: &'r BTreeSet<String>,
    edges: BTreeSet<String>,
    place: String,
    found: &'r mut Found,
}

impl Reader<'_> {
    /// A path that begins with `crate`, `super` or `self`: the file that it leads to.
    fn name(&mut self, path: &[String]) {
        let mut full: Vec<String> = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self") => self.own.to_vec(),
            Some("super") => self.own[..self.own.len().saturating_sub(1)].to_vec(),
            _ => return,
        };
        full.extend(path.iter().skip(1).cloned());
        let known = (1..=full.len()).rev().map(|length| full[..length].join("::"));
        let Some(other) = known.into_iter().find(|name| self.modules.contains(name)) else { return };
        // A folder's own file declares what lies in it.
        if !other.starts_with(&format!("{}::", self.own.join("::"))) {
            self.edges.insert(other);
        }
    }

    fn tree(&mut self, before: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(before, &path.tree);
                before.pop();
            }
            syn::UseTree::Name(name) => {
                before.push(name.ident.to_string());
                self.name(before);
                before.pop();
            }
            syn::UseTree::Rename(name) => {
                before.push(name.ident.to_string());
                self.name(before);
                before.pop();
            }
            syn::UseTree::Glob(_) => self.name(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(before, item)),
        }
    }

    fn function(&mut self, name: &syn::Ident, span: proc_macro2::Span) {
        let (from, to) = (span.start().line, span.end().line);
        let place = format!("{}:{from}: {name}", self.place);
        self.found.functions.push(Sized { place, size: to - from + 1, comment: String::new() });
    }
}

/// Whether an item is there in tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list().map(|list| list.tokens.to_string());
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && list.is_ok_and(|of| of == "test")
    })
}

fn comment(attributes: &[syn::Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let Ok(syn::MetaNameValue { value: syn::Expr::Lit(literal), .. }) =
            attribute.meta.require_name_value()
        {
            if let syn::Lit::Str(text) = &literal.lit {
                lines.push(text.value());
            }
        }
    }
    lines.join("")
}

/// What a pattern names.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.0.insert(parts.join("::"));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        let mut names = Names::default();
        names.visit_pat(pattern);
        let has = |name: &str| names.0.contains(name);
        if (has("Op::Load") || has("Op::Store")) && has("Payload::Cell") {
            self.found.accesses.push(format!("{}:{}", self.place, pattern.span().start().line));
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.tree(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.name(&parts);
        visit::visit_path(self, path);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig.ident, item.span());
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig.ident, item.block.span());
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !is_test(&item.attrs) {
            let place = format!("{}:{}: {}", self.place, item.span().start().line, item.ident);
            let comment = comment(&item.attrs);
            self.found.structs.push(Sized { place, size: item.fields.len(), comment });
            visit::visit_item_struct(self, item);
        }
    }
}
