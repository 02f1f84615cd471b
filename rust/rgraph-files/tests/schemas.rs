//! What the schemas print. They are made from the tables of the readers, so a change of a table shows here: compare
//! what `rgraph schema KIND` prints before and after it, then write the new hash.

use rgraph_files::schema::{KINDS, schema};
use xxhash_rust::xxh3::xxh3_64;

#[test]
fn the_text_of_every_schema_is_the_one_that_was_looked_at() {
    let hash = |kind| format!("{kind} {:016x}", xxh3_64(schema(kind).expect("the kind has a schema").as_bytes()));
    let kept =
        ["graph 6f7861838e1e73cb", "profile 4777002067055326", "plan 7eb8dd12f69f5ead", "devices 464cb506579c4019"];
    assert_eq!(KINDS.map(hash), kept);
}
