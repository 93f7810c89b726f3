//! The page: one file of HTML that stands alone.
//!
//! Problem: the page goes from hand to hand as one file, is opened where there is no network, and shows texts
//! of programs that nobody has looked at. Design: styles, the little script and pictures are part of it; all
//! text goes through the escaping of `maud`. A policy in its head lets nothing be loaded and no other script
//! run. Without scripts all of it can be read: links lead to parts that browsers open by themselves.
//! Invariant: the page is a function of the model alone.
//!
//! ```text
//! front.rs: one screen, where the time went and which loops to look at
//! source.rs: the program's lines with their heat
//! tree.rs: traces and exits as pictures; trace.rs: all that is known of one
//! ```

mod front;
mod parts;
mod source;
mod trace;
mod tree;

use maud::{html, PreEscaped, DOCTYPE};

use super::model::Model;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What a browser is to allow the page: its own styles, the script with this sum, and nothing from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      script-src 'sha256-B43d4RlUamYGmkqrxTIJ2N8JRFsZ+aYg2uAB6ulwFPk='";

/// The whole page.
pub fn page(model: &Model) -> String {
    let title = match model.files.first() {
        Some(file) => format!("{}: what became of its loops", file.name),
        None => "What became of the program's loops".to_string(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                nav {
                    a href="#front" { "In short" }
                    a href="#sources" { "Source" }
                    a href="#trees" { "Traces" }
                    a href="#about" { "How to read this" }
                }
                main {
                    (front::front(model, &title))
                    (source::sources(model))
                    (tree::trees(model))
                    (front::about())
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

#[cfg(test)]
mod tests;
