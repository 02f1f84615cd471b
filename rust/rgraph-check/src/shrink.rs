//! Smaller documents that still show a fault.
//!
//! Delta debugging over the tree of a JSON document: runs of entries of an array leave together, first halves, then
//! ever fewer (ddmin; Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002), outer levels
//! before inner ones (Misherghi and Su, "HDD: Hierarchical Delta Debugging", 2006).

use serde_json::Value;

/// The smallest document found of which `fails` holds; `document` itself if nothing smaller fails.
///
/// `fails` decides alone what counts: a document that cannot be read does not fail. It is asked `most` times at most.
pub fn shrink(document: &Value, most: usize, fails: &mut dyn FnMut(&Value) -> bool) -> Value {
    let mut search = Search { best: document.clone(), left: most, fails };
    while search.round(&mut Vec::new()) && search.left > 0 {}
    search.best
}

struct Search<'a> {
    best: Value,
    left: usize,
    fails: &'a mut dyn FnMut(&Value) -> bool,
}

impl Search<'_> {
    /// Makes one pass over everything below a path; whether anything left.
    fn round(&mut self, path: &mut Vec<Key>) -> bool {
        let mut smaller = false;
        match find(&mut self.best, path) {
            Value::Array(entries) => {
                let count = entries.len();
                smaller |= self.drop_entries(path, count);
                let left = find(&mut self.best, path).as_array().map_or(0, Vec::len);
                for at in 0..left {
                    smaller |= self.below(path, Key::Entry(at));
                }
            }
            Value::Object(fields) => {
                let keys: Vec<String> = fields.keys().cloned().collect();
                for key in keys {
                    let without =
                        |value: &mut Value| value.as_object_mut().is_some_and(|fields| fields.remove(&key).is_some());
                    if self.tried(path, &without) {
                        smaller = true;
                    } else {
                        smaller |= self.below(path, Key::Field(key));
                    }
                }
            }
            _ => {}
        }
        smaller
    }

    fn below(&mut self, path: &mut Vec<Key>, step: Key) -> bool {
        path.push(step);
        let smaller = self.round(path);
        path.pop();
        smaller
    }

    fn drop_entries(&mut self, path: &[Key], count: usize) -> bool {
        let (mut smaller, mut run, mut count) = (false, count, count);
        while run > 0 {
            // From the end: later passes need earlier ones, not the other way round.
            let mut end = count;
            while end > 0 {
                let first = end.saturating_sub(run);
                let without =
                    |value: &mut Value| value.as_array_mut().is_some_and(|list| list.drain(first..end).len() > 0);
                if self.tried(path, &without) {
                    smaller = true;
                    count -= end - first;
                }
                end = first;
            }
            run /= 2;
        }
        smaller
    }

    /// Keeps a change if the document still fails.
    fn tried(&mut self, path: &[Key], change: &dyn Fn(&mut Value) -> bool) -> bool {
        if self.left == 0 {
            return false;
        }
        let mut other = self.best.clone();
        if !change(find(&mut other, path)) {
            return false;
        }
        self.left -= 1;
        let fails = (self.fails)(&other);
        if fails {
            self.best = other;
        }
        fails
    }
}

/// One step down a document.
#[derive(Clone, Debug)]
enum Key {
    Field(String),
    Entry(usize),
}

fn find<'v>(mut value: &'v mut Value, path: &[Key]) -> &'v mut Value {
    for step in path {
        value = match step {
            Key::Field(key) => &mut value[key.as_str()],
            Key::Entry(at) => &mut value[*at],
        };
    }
    value
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::shrink;

    /// Whether a document holds both of two words anywhere.
    fn holds(document: &Value, words: [&str; 2]) -> bool {
        let text = document.to_string();
        words.iter().all(|word| text.contains(word))
    }

    #[test]
    fn only_what_makes_it_fail_stays() {
        let passes: Vec<Value> = (0..40).map(|at| json!({"name": format!("p{at:02}"), "weight": at})).collect();
        let document = json!({"name": "frame", "passes": passes, "roots": ["p39"]});
        let least = shrink(&document, 10_000, &mut |one| holds(one, ["p07", "p31"]));
        assert_eq!(least, json!({"passes": [{"name": "p07"}, {"name": "p31"}]}));
    }

    #[test]
    fn it_asks_no_more_often_than_it_may_and_what_does_not_fail_stays_as_it_is() {
        let document = json!({"passes": (0..100).collect::<Vec<_>>()});
        let mut asked = 0;
        let least = shrink(&document, 17, &mut |_| {
            asked += 1;
            false
        });
        assert_eq!((least, asked), (document, 17));
    }
}
