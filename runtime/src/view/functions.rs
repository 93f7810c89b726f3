//! The host's functions: where their instructions lie, and of which lines of which file they are.
//!
//! Problem: the service knows addresses of instructions only, and when the page is made most of what lay
//! there may be gone. Design: the host tells of each function when it is loaded. What it says is kept as long
//! as something on the page refers to it, also when the function is freed; a place is a function's number and
//! an instruction's, which stays what it is. Source texts are read when the file's first function is told of,
//! as the program that runs is the one that was loaded. Invariant: no two functions that are alive overlap;
//! one that is told of later has taken the place of the earlier one.
//!
//! ```text
//! told: 7f00 to 7f20, 4 bytes each, lines 3 3 4 4 4 3 5 5, "@app.lua"  ->  7f08 is app.lua:4
//! ```

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::text::{path_of, readable};

/// What a host says of a function.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The address of its first instruction.
    pub low: usize,
    /// Bytes from one instruction to the next, at least 1.
    pub stride: usize,
    /// Its name, if it has one.
    pub name: &'a [u8],
    /// The line that it begins at; 0 for a whole file.
    pub first_line: u32,
    /// `@` and a file's name, `=` and another name, or the text itself: what Lua calls a chunk's name.
    pub source: &'a [u8],
    /// For each instruction its line; 0 where it is not known.
    pub lines: &'a [u32],
    /// Its loops: indices of the first instruction and of the jump back, outer ones first.
    pub loops: &'a [(u32, u32)],
}

/// A function's number, in the order in which they were told of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FunctionId(u32);

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Place {
    pub function: FunctionId,
    pub index: u32,
    pub line: u32,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    low: usize,
    stride: usize,
    pub name: String,
    pub first_line: u32,
    /// The number of its file.
    pub file: usize,
    pub lines: Vec<u32>,
    pub loops: Vec<(u32, u32)>,
    is_referred_to: bool,
}

impl Function {
    fn end(&self) -> usize {
        self.low + self.lines.len() * self.stride
    }

    /// The loop that begins at an instruction.
    pub fn loop_at(&self, index: u32) -> Option<(u32, u32)> {
        self.loops.iter().copied().find(|&(head, _)| head == index)
    }

    /// The instructions of a loop, or of the whole function, that are in no loop within.
    pub fn own_instructions(&self, around: Option<(u32, u32)>) -> impl Iterator<Item = u32> + '_ {
        let (first, last) = around.unwrap_or((0, self.lines.len().saturating_sub(1) as u32));
        let within =
            move |&&(head, end): &&(u32, u32)| Some((head, end)) != around && first <= head && end <= last;
        (first..=last).filter(move |index| {
            !self.loops.iter().filter(within).any(|&(head, end)| (head..=end).contains(index))
        })
    }
}

/// A file, or a text that was compiled.
#[derive(Debug)]
pub(crate) struct File {
    /// As people know it: the last part of its path, if no other file has that.
    pub name: String,
    /// All of its path.
    pub path: String,
    /// Its text; or why there is none.
    pub text: Result<String, String>,
    /// Whether it came from a disk.
    pub is_file: bool,
    /// What the host calls it.
    source: Rc<[u8]>,
    /// How many of its functions are alive, or referred to.
    users: usize,
}

/// A text of a program that is longer is not kept: the page would not be read.
const LONGEST_TEXT: usize = 4 << 20;

impl File {
    fn new(source: Rc<[u8]>, number: usize) -> File {
        let (path, text, is_file) = match source.split_first() {
            Some((b'@', path)) => (readable(path), read(path), true),
            Some((b'=', name)) => {
                (readable(name), Err("the program has not said what text that is".to_string()), false)
            }
            _ if source.len() <= LONGEST_TEXT => (format!("[text {number}]"), Ok(readable(&source)), false),
            _ => (format!("[text {number}]"), Err(format!("it has {} bytes", source.len())), false),
        };
        File { name: path.clone(), path, text, is_file, source, users: 0 }
    }
}

fn read(path: &[u8]) -> Result<String, String> {
    let path = path_of(path);
    let size = std::fs::metadata(&path).map_err(|error| format!("it cannot be read: {error}"))?.len();
    if size > LONGEST_TEXT as u64 {
        return Err(format!("it has {size} bytes"));
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(readable(&bytes))
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    all: Vec<Function>,
    /// Those that are alive, by address.
    alive: BTreeMap<usize, FunctionId>,
    pub files: Vec<File>,
    by_source: FxHashMap<Rc<[u8]>, usize>,
    /// How many texts there are among the files.
    texts: usize,
}

impl Functions {
    /// The host has loaded a function.
    pub fn tell(&mut self, told: &Told<'_>) {
        if told.lines.is_empty() || told.stride == 0 {
            return;
        }
        self.forget(told.low, told.low + told.lines.len() * told.stride);
        let file = self.file_of(told.source);
        self.files[file].users += 1;
        let id = FunctionId(self.all.len() as u32);
        self.all.push(Function {
            low: told.low,
            stride: told.stride,
            name: readable(told.name),
            first_line: told.first_line,
            file,
            lines: told.lines.to_vec(),
            loops: told.loops.to_vec(),
            is_referred_to: false,
        });
        self.alive.insert(told.low, id);
    }

    fn file_of(&mut self, source: &[u8]) -> usize {
        if let Some(&file) = self.by_source.get(source) {
            return file;
        }
        let is_text = !matches!(source.first(), Some(b'@' | b'='));
        self.texts += usize::from(is_text);
        let source: Rc<[u8]> = source.into();
        let mut file = File::new(Rc::clone(&source), self.texts);
        let last = file.path.rsplit('/').next().unwrap_or_default();
        if file.is_file && !last.is_empty() && !self.files.iter().any(|other| other.name == last) {
            file.name = last.to_string();
        }
        self.files.push(file);
        self.by_source.insert(source, self.files.len() - 1);
        self.files.len() - 1
    }

    /// Functions with instructions in this range are no more. Of those that nothing refers to nothing is
    /// kept: a program may load a hundred thousand.
    pub fn forget(&mut self, low: usize, high: usize) {
        let before = self.alive.range(..low).next_back().map(|(&at, _)| at);
        let first = before.filter(|at| self.all[self.alive[at].0 as usize].end() > low).unwrap_or(low);
        let gone: Vec<usize> = self.alive.range(first..high).map(|(&at, _)| at).collect();
        for at in gone {
            let Some(id) = self.alive.remove(&at) else { continue };
            let function = &mut self.all[id.0 as usize];
            if function.is_referred_to {
                continue;
            }
            (function.lines, function.loops, function.name) = Default::default();
            let file = &mut self.files[function.file];
            file.users -= 1;
            if file.users == 0 && !file.is_file {
                self.by_source.remove(&file.source);
                (file.source, file.text) = (Rc::default(), Err("nothing of it is left".to_string()));
            }
        }
    }

    /// The instruction at an address, or the one that the address points into, as keys of entries do.
    pub fn find(&self, address: u64) -> Option<Place> {
        let address = usize::try_from(address).ok()?;
        let (_, &id) = self.alive.range(..=address).next_back()?;
        let function = &self.all[id.0 as usize];
        let index = (address - function.low) / function.stride;
        let line = *function.lines.get(index)?;
        Some(Place { function: id, index: index as u32, line })
    }

    /// The page will show this place, whatever becomes of its function.
    pub fn refer_to(&mut self, place: Place) {
        self.all[place.function.0 as usize].is_referred_to = true;
    }

    /// The instruction at an address, which the page will show.
    pub fn place(&mut self, address: u64) -> Option<Place> {
        let place = self.find(address)?;
        self.refer_to(place);
        Some(place)
    }

    pub fn function(&self, place: Place) -> &Function {
        &self.all[place.function.0 as usize]
    }

    /// A place for people: the only function that says how. `app.lua:4 in sum`.
    pub fn name_of(&self, place: Place) -> String {
        let function = self.function(place);
        let file = &self.files[function.file].name;
        format!("{file}:{} in {}", place.line, self.function_name(place))
    }

    /// A function for people.
    pub fn function_name(&self, place: Place) -> String {
        let function = self.function(place);
        match (function.name.as_str(), function.first_line) {
            ("", 0) => "main chunk".to_string(),
            ("", line) => format!("function at line {line}"),
            (name, _) => name.to_string(),
        }
    }

    /// How many functions were told of.
    pub fn count(&self) -> usize {
        self.all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told<'a>(low: usize, name: &'a str, lines: &'a [u32]) -> Told<'a> {
        let (source, loops) = (b"return 1 < 2".as_slice(), [(1, 2)].as_slice());
        Told { low, stride: 4, name: name.as_bytes(), first_line: lines[0], source, lines, loops }
    }

    #[test]
    fn addresses_are_lines() {
        let mut functions = Functions::default();
        functions.tell(&told(0x100, "f", &[3, 4, 4, 5]));
        functions.tell(&told(0x200, "", &[7]));
        let place = functions.place(0x10c).expect("the last instruction");
        assert_eq!((place.index, place.line), (3, 5));
        assert_eq!(functions.name_of(place), "[text 1]:5 in f");
        assert_eq!(functions.place(0x10d), Some(place), "within it");
        assert_eq!(functions.place(0x110), None);
        assert_eq!(functions.place(0xff), None);
        let other = functions.place(0x200).expect("it is there");
        assert_eq!(functions.name_of(other), "[text 1]:7 in function at line 7");
        let function = functions.function(place);
        assert_eq!(function.loop_at(1), Some((1, 2)));
        assert_eq!(function.own_instructions(None).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(function.own_instructions(Some((1, 2))).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_place_outlives_its_function() {
        let mut functions = Functions::default();
        functions.tell(&told(0x100, "first", &[3, 4]));
        let place = functions.place(0x104).expect("it is there");
        // Another one lies there now, and the first was never said to be gone.
        functions.tell(&told(0x104, "second", &[9]));
        assert_eq!(functions.name_of(place), "[text 1]:4 in first");
        assert_eq!(functions.place(0x100), None);
        functions.forget(0x104, 0x108);
        assert_eq!(functions.place(0x104), None);
        assert!(functions.files[0].text.is_ok(), "the first one's place is still shown");
    }

    #[test]
    fn of_what_nothing_refers_to_nothing_is_kept() {
        let mut functions = Functions::default();
        for n in 0..1000 {
            let source = format!("return {n}").into_bytes();
            functions.tell(&Told { source: &source, ..told(0x100, "", &[1]) });
        }
        assert_eq!((functions.files.len(), functions.by_source.len()), (1000, 1));
        assert_eq!(functions.files.iter().filter(|file| file.text.is_ok()).count(), 1);
    }
}
