//! What the schemas print. They are made from the tables of the readers, so a change of a table shows here: compare
//! what `rgraph schema KIND` prints before and after it, then write the new hash.

use rgraph_files::schema::{KINDS, schema};
use xxhash_rust::xxh3::xxh3_64;

#[test]
fn the_text_of_every_schema_is_the_one_that_was_looked_at() {
    let hash = |kind| format!("{kind} {:016x}", xxh3_64(schema(kind).expect("the kind has a schema").as_bytes()));
    let kept =
        ["graph 59727ef20a997ef8", "profile 6168dc89aaa75fc4", "plan 81c95ecc8e970b0a", "devices e378c452ea64674c"];
    assert_eq!(KINDS.map(hash), kept);
}
