//! Declarations that use names which nothing has declared yet.

use std::borrow::Cow;
use std::sync::Arc;

use rgraph_plan::access::Aspects;
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::graph::{Graph, PassId, Place, Use};
use rgraph_plan::id::Id;
use rgraph_plan::nearest::nearest;
use rgraph_plan::resource::{Axis, ResourceId, Round, Size};

use crate::run::error::Refusal;

/// A resource in an argument, before its graph was asked.
#[derive(Clone)]
pub enum Given<'a> {
    /// A handle: its graph's identity and its id.
    Handle(u64, ResourceId),
    Name(Cow<'a, str>),
}

impl Given<'_> {
    /// The same, borrowing nothing.
    pub fn owned(self) -> Given<'static> {
        match self {
            Self::Handle(identity, id) => Given::Handle(identity, id),
            Self::Name(name) => Given::Name(name.into_owned().into()),
        }
    }
}

/// A resource (or pass) in an argument.
#[derive(Clone, PartialEq)]
pub enum Target<I = ResourceId> {
    /// Declared.
    Known(I),
    /// To be declared before the graph is baked.
    Later(Box<str>),
}

impl<I: Id> Target<I> {
    /// The id, if it is declared.
    pub fn known(&self) -> Option<I> {
        match self {
            Self::Known(id) => Some(*id),
            Self::Later(_) => None,
        }
    }
}

/// One axis of a size in an argument.
#[derive(Clone)]
pub enum AxisOf<T> {
    /// So many texels.
    Texels(u32),
    /// A multiple of the reference size (`None`) or of an image's.
    Scaled(Option<T>, f64),
}

/// A size in an argument.
#[derive(Clone)]
pub struct SizeOf<T> {
    /// Width, height, and depth if it has one.
    pub axes: [Option<AxisOf<T>>; 3],
    /// Rounding.
    pub round: Round,
}

impl<T> From<Size> for SizeOf<T> {
    /// A size in texels; what is relative is dropped.
    fn from(size: Size) -> Self {
        let axis = |axis| match axis {
            Axis::Texels(texels) => Some(AxisOf::Texels(texels)),
            Axis::Scaled(..) => None,
        };
        Self { axes: [axis(size.x), axis(size.y), size.z.and_then(axis)], round: size.round }
    }
}

impl<T> SizeOf<T> {
    /// The same size relative to something else.
    pub fn try_map<U>(&self, map: impl Fn(&T) -> Result<U, Refusal>) -> Result<SizeOf<U>, Refusal> {
        let axis = |axis: &Option<AxisOf<T>>| {
            Ok::<_, Refusal>(match axis {
                None => None,
                Some(AxisOf::Texels(n)) => Some(AxisOf::Texels(*n)),
                Some(AxisOf::Scaled(of, scale)) => Some(AxisOf::Scaled(of.as_ref().map(&map).transpose()?, *scale)),
            })
        };
        let [x, y, z] = &self.axes;
        Ok(SizeOf { axes: [axis(x)?, axis(y)?, axis(z)?], round: self.round })
    }
}

/// Something declared by a name that nothing had declared yet.
#[derive(Clone)]
pub struct Unresolved {
    /// Names are looked for in this module first, then outwards.
    pub prefix: Arc<str>,
    /// Where it was declared.
    pub place: Option<Place>,
    /// What was declared.
    pub reference: Reference,
}

/// A declaration that refers to others, some of them by names that nothing has declared yet.
#[derive(Clone)]
pub enum Reference {
    /// An access, what it resolves, and, if it follows from work, the aspects that draws only test.
    Access(PassId, Target, Box<Use>, Option<Target>, Option<Aspects>),
    /// A size relative to an image.
    Size(ResourceId, SizeOf<Target>),
    Modifies(ResourceId, Target),
    /// What a resource remembers: how many frames ago, and whether it starts with zeros.
    History(ResourceId, Target, u32, bool),
    Root(Target),
    /// The pass that a pass comes after.
    After(PassId, Target<PassId>),
    /// Output and input of a fallback.
    Fallback(PassId, Target, Target),
    /// The image whose format, layers and depth (scaled) an image has where it declares none.
    Like(ResourceId, Target, Option<f64>),
}

impl Unresolved {
    /// The image that waits to be like another.
    pub fn unlike(&self) -> Option<ResourceId> {
        match self.reference {
            Reference::Like(id, ..) => Some(id),
            _ => None,
        }
    }

    /// Its missing names, as mistakes that offer the nearest declared name.
    pub fn mistakes(&self, graph: &Graph) -> Vec<Mistake> {
        let pass = |id: PassId| Some(graph.pass_name(id));
        let name = |id: ResourceId| format!("\"{}\"", graph.resource_name(id));
        let (who, in_pass, targets): (String, _, Vec<&Target>) = match &self.reference {
            Reference::Access(id, resource, _, resolves, _) => (
                format!("pass \"{}\" uses", graph.pass_name(*id)),
                pass(*id),
                std::iter::once(resource).chain(resolves).collect(),
            ),
            Reference::Size(id, size) => {
                let of = size.axes.iter().flatten().filter_map(|axis| match axis {
                    AxisOf::Scaled(Some(of), _) => Some(of),
                    _ => None,
                });
                (format!("{} has a size relative to", name(*id)), None, of.collect())
            }
            Reference::Modifies(id, of) => (format!("{} modifies", name(*id)), None, vec![of]),
            Reference::History(id, of, ..) => (format!("{} remembers", name(*id)), None, vec![of]),
            Reference::Root(of) => ("a root is".to_owned(), None, vec![of]),
            // Its size is relative to the same image, which says what is missing.
            Reference::Like(..) => return Vec::new(),
            Reference::Fallback(id, output, input) => {
                (format!("the fallback of pass \"{}\" names", graph.pass_name(*id)), pass(*id), vec![output, input])
            }
            Reference::After(_, Target::Known(_)) => return Vec::new(),
            Reference::After(id, Target::Later(earlier)) => {
                let message =
                    format!("pass \"{}\" comes after \"{earlier}\", which nothing declares", graph.pass_name(*id));
                let help = offer(earlier, graph.pass_names().iter(), "declare that pass");
                let mistake = Mistake::new(Code::UnknownName, message, help).pass(graph.pass_name(*id));
                return vec![self.at(mistake, graph.pass_name(*id), "here")];
            }
        };
        let mut found: Vec<Mistake> = Vec::new();
        for target in targets {
            let Target::Later(missing) = target else { continue };
            let message = format!("{who} \"{missing}\", which nothing declares");
            if found.iter().any(|mistake| mistake.message == message) {
                continue;
            }
            let help = offer(missing, graph.resource_names().iter(), "declare it with image() or buffer()");
            let mut mistake = Mistake::new(Code::UnknownName, message, help).resource(missing);
            if let Some(pass) = in_pass {
                mistake = mistake.pass(pass);
            }
            found.push(self.at(mistake, missing, "named here"));
        }
        found
    }

    fn at(&self, mistake: Mistake, name: &str, says: &str) -> Mistake {
        match &self.place {
            Some(place) => mistake.side(name, says, Some(place.clone())),
            None => mistake,
        }
    }
}

/// Help for a name that nothing declares: the nearest known one, else `otherwise`.
pub(crate) fn offer<'a>(name: &str, known: impl Iterator<Item = &'a str>, otherwise: &str) -> String {
    nearest(name, known).map_or_else(|| otherwise.to_owned(), |near| format!("did you mean \"{near}\"?"))
}

/// The planner's size, if every image it is relative to is known.
pub(crate) fn size_of(size: &SizeOf<Target>) -> Option<Size> {
    let axis = |axis: &Option<AxisOf<Target>>| match axis {
        None => Some(None),
        Some(AxisOf::Texels(n)) => Some(Some(Axis::Texels(*n))),
        Some(AxisOf::Scaled(None, scale)) => Some(Some(Axis::Scaled(None, *scale))),
        Some(AxisOf::Scaled(Some(of), scale)) => of.known().map(|of| Some(Axis::Scaled(Some(of), *scale))),
    };
    let [x, y, z] = &size.axes;
    Some(Size { x: axis(x)??, y: axis(y)??, z: axis(z)?, round: size.round })
}

/// What `find` knows under the name as seen from the module `prefix` (empty, or ending in `/`): the module's own, else
/// that of the one around it, and so on.
pub(crate) fn find_outwards<T>(prefix: &str, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut level = prefix;
    while !level.is_empty() {
        let found = find(&format!("{level}{name}"));
        if found.is_some() {
            return found;
        }
        level = level[..level.len() - 1].rfind('/').map_or("", |at| &level[..=at]);
    }
    find(name)
}
