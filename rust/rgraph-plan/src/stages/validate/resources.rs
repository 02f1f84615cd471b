//! What can be wrong with a resource by itself, with what it remembers or modifies, and with its edges.

use super::usages::blends;
use super::words::{counted, describe, listed, measured, texels};
use super::{Check, MAX_HISTORY, Runs, ValidateScratch};
use crate::access::{Layout, PassQueue};
use crate::error::{Code, Mistake};
use crate::format::Numbers;
use crate::plan::PlanKind;
use crate::resource::{Axis, History, Image, Kind, Life, Mips, Resource, ResourceId, Size};
use crate::stages::size::{Measure, ShapeIssue, ShapeProblem, shares_memory};

impl Check<'_> {
    /// Says what [`shapes`](crate::stages::size::shapes) noted, in order of declaration.
    #[cold]
    pub(super) fn check_shapes(&mut self, problems: &[ShapeProblem]) {
        let mut sorted: Vec<&ShapeProblem> = problems.iter().collect();
        sorted.sort_by_key(|problem| problem.resource);
        // Both axes of a size may say the same.
        sorted.dedup();
        for problem in sorted {
            self.check_shape(problem.resource, &problem.issue);
        }
    }

    fn check_shape(&mut self, id: ResourceId, issue: &ShapeIssue) {
        let profile = &self.profile.name;
        let counts =
            |what: Measure| matches!(what, Measure::Layers | Measure::Mips | Measure::Samples | Measure::Bytes);
        let amount = |what: Measure, count: u64| {
            if counts(what) {
                counted(count, measured(what).trim_end_matches('s'))
            } else {
                format!("a {} of {count}", measured(what))
            }
        };
        let (code, says, help) = match issue {
            ShapeIssue::NoFormat => {
                (Code::BadFormat, "has no format".to_owned(), "declare one, such as rgba8unorm".to_owned())
            }
            ShapeIssue::NoSize => (Code::BadSize, "has no size".to_owned(), "declare its bytes".to_owned()),
            ShapeIssue::Zero(what) => {
                (Code::BadSize, format!("has {}", amount(*what, 0)), "declare at least 1".to_owned())
            }
            ShapeIssue::ZeroReference => {
                let [width, height] = self.graph.reference_size();
                let says = format!("is relative to the reference size, which is {}", texels([width, height, 1], false));
                (Code::BadSize, says, "give the graph a reference size of at least 1×1".to_owned())
            }
            ShapeIssue::BadScale(what, scale) => {
                let says = format!("scales its {} by {scale:?}", measured(*what));
                (Code::BadNumber, says, "give it a finite number above 0".to_owned())
            }
            ShapeIssue::Overflow(what) => {
                let says = format!("has a {} of more than {} texels", measured(*what), u32::MAX);
                (Code::BadSize, says, "use a smaller scale".to_owned())
            }
            ShapeIssue::NotAnImage(Some(of)) => {
                let says = format!("is relative to \"{}\", which is a buffer", self.resource_name(*of));
                (Code::BadSize, says, "relate it to an image or to the reference size".to_owned())
            }
            ShapeIssue::NotAnImage(None) => {
                let says = "is relative to a resource of another graph".to_owned();
                (Code::UnknownName, says, "relate it to an image of this graph".to_owned())
            }
            ShapeIssue::TooManyMips { declared, most } => {
                let says = format!("has {declared} mips, but is one texel after {most}");
                (Code::BadRange, says, format!("declare at most {most}, or \"full\""))
            }
            ShapeIssue::OverLimit { what, declared, most } => {
                let says = format!("has {}; on profile \"{profile}\" at most {most} can be", amount(*what, *declared));
                (Code::OverLimit, says, "make it smaller, or plan for another device".to_owned())
            }
            ShapeIssue::OddSamples(declared) => {
                let says = format!("has {declared} samples, which is no power of two");
                (Code::BadSamples, says, "use 1, 2, 4 or 8".to_owned())
            }
            ShapeIssue::TooManyBytes => {
                let says = "is too large: the bytes of all resources together overflow".to_owned();
                (Code::TooLarge, says, "make it smaller".to_owned())
            }
            ShapeIssue::Cycle { path, len } => {
                self.shape_cycle(id, path, *len);
                return;
            }
        };
        let mistake = self.of_resource(code, id, &says, &help);
        if code == Code::UnknownName { self.block(mistake) } else { self.add(mistake) }
    }

    fn shape_cycle(&mut self, id: ResourceId, path: &[ResourceId], len: usize) {
        let resources = self.graph.resources();
        let next = |at: usize| if at + 1 < path.len() { path[at + 1] } else { path[0] };
        let modifies = |at: usize| resources[path[at]].modifies == Some(next(at));
        let remembers = |at: usize| matches!(resources[path[at]].life, Life::History(h) if h.of == next(at));
        let whole = path.len() == len;
        let all = |is: &dyn Fn(usize) -> bool| whole && (0..path.len()).all(is);
        if all(&remembers) {
            // Each of them is reported as a history of a history.
            self.found.resolvable = false;
            return;
        }
        let mut names: Vec<&str> = path.iter().map(|&resource| self.resource_name(resource)).collect();
        let more = format!("({} more)", len - path.len());
        if !whole {
            names.push(&more);
        }
        names.push(self.resource_name(path[0]));
        let (code, says, help) = if all(&modifies) {
            (Code::BadModifies, "modifies itself", "start from an image that modifies nothing")
        } else {
            (Code::BadSize, "needs its own size", "give one of them a size of its own")
        };
        let mut mistake =
            Mistake::new(code, format!("\"{}\" {says}: {}", names[0], names.join(" → ")), help).resource(names[0]);
        for at in 0..path.len() {
            let how = if modifies(at) {
                "modifies"
            } else if remembers(at) {
                "is a history of"
            } else {
                "is relative to"
            };
            if whole || at + 1 < path.len() {
                let says = format!("{how} \"{}\"", self.resource_name(next(at)));
                mistake =
                    mistake.side(self.resource_name(path[at]), says, self.graph.resource_place(path[at]).cloned());
            }
        }
        debug_assert_eq!(id, path[0], "a cycle is noted with its first resource");
        self.block(mistake);
    }

    pub(super) fn check_resources(&mut self, scratch: &mut ValidateScratch) {
        scratch.links.modified_by.clear();
        for (id, resource) in self.graph.resources().iter_ids() {
            if let Kind::Image(_) = resource.kind
                && !scratch.facts[id].placeholder
                && !matches!(resource.life, Life::History(_))
            {
                self.check_image(id);
            }
            match resource.life {
                Life::Transient | Life::Fresh | Life::Persistent => {}
                Life::History(history) => self.check_history(id, resource, history, scratch.facts[id].placeholder),
                Life::Imported(imported) => {
                    self.check_state(id, "imported", imported.layout, imported.queue);
                }
            }
            if let Some(domain) = resource.memory_domain
                && (resource.modifies.is_some() || !resource.life.takes_memory_domain())
            {
                let says = format!("is to lie in {domain} memory, but is neither persistent nor imported");
                let help = "leave memory_domain out: the planner places what lives within a frame";
                self.add(self.of_resource(Code::BadUsage, id, &says, help));
            }
            if let Some(leave) = resource.leave {
                if leave.layout == Some(Layout::Undefined) {
                    let help = "leave it in the layout that its next user wants";
                    self.add(self.of_resource(Code::BadUsage, id, "is to be left in layout undefined", help));
                }
                self.check_state(id, "left", leave.layout, leave.queue);
            }
            if let Some(base) = resource.modifies {
                self.check_modifies(id, resource, base, scratch);
            }
        }
    }

    /// What an image's shape says against itself.
    ///
    /// # Source
    /// Vulkan 1.3 specification, valid usage of `VkImageCreateInfo`.
    fn check_image(&mut self, id: ResourceId) {
        let PlanKind::Image { format, size, mips, layers, samples, volume, cube } = self.shapes[id].kind else {
            return;
        };
        if !volume && !cube && samples == 1 {
            return;
        }
        let block = format.numbers() == Numbers::Block;
        let wrong = if volume && (layers > 1 || cube) {
            Some((Code::BadSize, "has three dimensions and layers too", "use a depth or layers, not both"))
        } else if volume && format.is_depth_stencil() {
            Some((Code::BadFormat, "has three dimensions, but depth formats have two", "use layers instead of a depth"))
        } else if cube && layers % 6 != 0 {
            Some((Code::BadSize, "is a cube, but its layers are no multiple of six", "give it six layers a cube"))
        } else if cube && size[0] != size[1] {
            Some((Code::BadSize, "is a cube, but its width is not its height", "give it square faces"))
        } else if samples > 1 && volume {
            Some((Code::BadSamples, "has several samples and three dimensions", "use one sample"))
        } else if samples > 1 && cube {
            Some((Code::BadSamples, "has several samples and is a cube", "use one sample, or six layers"))
        } else if samples > 1 && mips > 1 {
            Some((
                Code::BadSamples,
                "has several samples and several mips",
                "use one mip, and resolve to an image with mips",
            ))
        } else if samples > 1 && block {
            Some((Code::BadSamples, "has several samples and a block-compressed format", "use one sample"))
        } else {
            None
        };
        if let Some((code, says, help)) = wrong {
            let says = format!("{says} ({})", describe(&self.shapes[id]));
            self.add(self.of_resource(code, id, &says, help));
        }
    }

    fn check_history(&mut self, id: ResourceId, resource: &Resource, history: History, placeholder: bool) {
        let of = history.of;
        if !self.known(of) {
            let says = "is a history of a resource of another graph";
            self.block(self.of_resource(Code::UnknownName, id, says, "remember a resource of this graph"));
            return;
        }
        let name = self.resource_name(of);
        let remembered = &self.graph.resources()[of];
        let memory = self.memory_of(of);
        if !(1..=MAX_HISTORY).contains(&history.frames) {
            let says = format!("remembers {}", counted(u64::from(history.frames), "frame"));
            let help = format!("remember 1 to {MAX_HISTORY} frames");
            self.block(self.of_resource(Code::BadHistory, id, &says, &help));
        }
        let kept = match self.graph.resources()[memory].life {
            Life::History(_) => Some(("is a history itself", "remember the resource itself, more frames ago")),
            Life::Persistent => Some(("is persistent: it has one memory", "read it before it is written")),
            Life::Fresh => Some(("is fresh: each frame has other memory for it", "leave out fresh")),
            Life::Transient | Life::Imported(_) => None,
        };
        if let Some((why, help)) = kept {
            let has = if memory == of {
                String::new()
            } else {
                format!("has the memory of \"{}\", which ", self.resource_name(memory))
            };
            let says = format!("is a history of \"{name}\", which {has}{why}");
            self.block(self.of_two(Code::BadHistory, id, of, &says, help));
        } else if remembered.as_image().is_some() != resource.as_image().is_some() {
            let says = format!("is a history of \"{name}\", which is of another kind");
            self.block(self.of_two(Code::BadHistory, id, of, &says, "declare both as images, or both as buffers"));
        } else if !placeholder && !self.says_the_same(resource, of) {
            let says = format!("is a history of \"{name}\" and declares another shape");
            self.block(self.of_two(Code::BadHistory, id, of, &says, "leave out its format and size"));
        }
        if resource.leave.is_some() {
            let says = "is a history and is to be left in a state";
            self.add(self.of_resource(Code::BadHistory, id, says, &format!("declare leave of \"{name}\"")));
        }
    }

    /// The resource whose memory a name has: what it modifies, and that modifies, as long as sizes are equal.
    fn memory_of(&self, name: ResourceId) -> ResourceId {
        let resources = self.graph.resources();
        let below = |&top: &ResourceId| {
            let below = resources[top].modifies.filter(|&below| self.known(below))?;
            shares_memory(self.shapes, top, below).then_some(below)
        };
        std::iter::successors(Some(name), below).take(resources.len()).last().unwrap_or(name)
    }

    /// Whether what a history says of its shape is what it has.
    fn says_the_same(&self, resource: &Resource, of: ResourceId) -> bool {
        let agrees = |declared: Option<u32>, is: u32| declared.is_none_or(|declared| declared == is);
        match (&resource.kind, self.shapes[of].kind) {
            (Kind::Buffer(buffer), PlanKind::Buffer { size }) => buffer.size.is_none_or(|declared| declared == size),
            (Kind::Image(image), PlanKind::Image { format, size, mips, layers, samples, cube, .. }) => {
                let Image {
                    format: declared_format,
                    size: texels,
                    layers: declared_layers,
                    mips: declared_mips,
                    samples: declared_samples,
                    cube: declared_cube,
                } = image;
                let axis = |axis: Axis, is: u32| matches!(axis, Axis::Texels(declared) if declared == is);
                let same_size = |declared: &Size| {
                    axis(declared.x, size[0])
                        && axis(declared.y, size[1])
                        && declared.z.is_none_or(|z| axis(z, size[2]))
                };
                declared_format.is_none_or(|declared| declared == format)
                    && texels.as_ref().is_none_or(same_size)
                    && agrees(*declared_layers, layers)
                    && agrees(*declared_samples, samples)
                    && !matches!(declared_mips, Some(Mips::Count(count)) if *count != mips)
                    && (!declared_cube || cube)
            }
            _ => false,
        }
    }

    /// The state in which the caller hands a resource over, or wants it back.
    fn check_state(&mut self, id: ResourceId, how: &str, layout: Option<Layout>, queue: Option<PassQueue>) {
        if let (Some(layout), PlanKind::Buffer { .. }) = (layout, self.shapes[id].kind) {
            let says = format!("is {how} in layout {layout}, but is a buffer");
            self.add(self.of_resource(Code::BadUsage, id, &says, "leave the layout out"));
        } else if let (Some(layout), PlanKind::Image { format, .. }) = (layout, self.shapes[id].kind) {
            let fits = match layout {
                Layout::ColorAttachment | Layout::PresentSrc => !format.is_depth_stencil(),
                Layout::DepthStencilAttachment | Layout::DepthStencilReadOnly => format.is_depth_stencil(),
                _ => true,
            };
            if !fits {
                let says = format!("is {how} in layout {layout}, which {format} cannot have");
                self.add(self.of_resource(Code::BadFormat, id, &says, "use general, or a layout for its format"));
            }
        }
        match queue.map(|queue| (queue, self.queues[queue as usize])) {
            Some((_, Runs::Anywhere)) => {
                let says = format!("is {how} on queue any");
                self.add(self.of_resource(Code::BadQueue, id, &says, "name the queue, or leave it out"));
            }
            Some((queue, Runs::Nowhere)) => {
                let says = format!("is {how} on queue {queue}, which profile \"{}\" does not have", self.profile.name);
                let help = format!("name another queue, or leave it out: it has {}", self.queue_words());
                self.add(self.of_resource(Code::BadQueue, id, &says, &help));
            }
            Some((_, Runs::Host | Runs::Queue(..))) | None => {}
        }
    }

    fn check_modifies(&mut self, id: ResourceId, resource: &Resource, base: ResourceId, scratch: &mut ValidateScratch) {
        if !self.known(base) {
            let says = "modifies a resource of another graph";
            self.block(self.of_resource(Code::UnknownName, id, says, "modify a resource of this graph"));
            return;
        }
        let name = self.resource_name(base);
        let below = &self.graph.resources()[base];
        let modified_by = &mut scratch.links.modified_by;
        if modified_by.is_empty() {
            modified_by.refill(None, self.graph.resources().len());
        }
        if let Some(other) = modified_by[base] {
            let first = self.resource_name(other);
            let says = format!("modifies \"{name}\", which \"{first}\" modifies already");
            let help = format!("let it modify \"{first}\", or copy \"{name}\" first");
            self.block(self.of_two(Code::BadModifies, id, other, &says, &help));
        } else {
            modified_by[base] = Some(id);
        }
        if resource.life == Life::Fresh {
            let says = format!("modifies \"{name}\", whose memory it has, and is fresh");
            let help = format!("leave out fresh, or make \"{name}\" fresh");
            self.block(self.of_two(Code::BadModifies, id, base, &says, &help));
        } else if resource.life != Life::Transient {
            let says = format!("modifies \"{name}\", but has contents of its own");
            let help = "let a transient modify it, or leave out what makes it persistent, imported or a history";
            self.block(self.of_two(Code::BadModifies, id, base, &says, help));
        }
        if let Life::History(history) = below.life {
            let of = if self.known(history.of) { self.resource_name(history.of) } else { "what it remembers" };
            let says = format!("modifies \"{name}\", but a history can only be read");
            self.block(self.of_two(
                Code::BadModifies,
                id,
                base,
                &says,
                &format!("modify \"{of}\", or copy \"{name}\" first"),
            ));
        }
        if below.as_image().is_some() != resource.as_image().is_some() {
            let says = format!("modifies \"{name}\", which is of another kind");
            self.block(self.of_two(Code::BadModifies, id, base, &says, "declare both as images, or both as buffers"));
            return;
        }
        if scratch.facts[id].placeholder || scratch.facts[base].placeholder {
            // Two placeholders need not be one memory.
            self.found.resolvable = false;
        } else if id != base {
            self.check_same_memory(id, base);
        }
    }

    /// Whether a name of a memory says something else than the names below it.
    fn says_otherwise<T: PartialEq>(&self, id: ResourceId, base: ResourceId, what: fn(&Resource) -> Option<T>) -> bool {
        let resources = self.graph.resources();
        let below = std::iter::successors(Some(base), |at| resources.get(*at)?.modifies).take(resources.len());
        let mut declared = below.filter_map(|at| what(resources.get(at)?));
        what(&resources[id]).is_some_and(|own| declared.next().is_some_and(|other| other != own))
    }

    /// One memory under two names, or a blit from one to the other.
    fn check_same_memory(&mut self, id: ResourceId, base: ResourceId) {
        let name = self.resource_name(base);
        let mut differs: Vec<&str> = Vec::new();
        let (own, below) = (self.shapes[id].kind, self.shapes[base].kind);
        let mut help = "leave out what differs: it has what it modifies".to_owned();
        let mut code = Code::BadModifies;
        let one_memory = match (own, below) {
            (PlanKind::Image { size: a, .. }, PlanKind::Image { size: b, .. }) => a == b,
            _ => true,
        };
        if one_memory && self.says_otherwise(id, base, |resource| resource.sharing) {
            differs.push("sharing");
        }
        if one_memory && self.says_otherwise(id, base, |resource| resource.leave) {
            differs.push("leave");
        }
        match (own, below) {
            (PlanKind::Buffer { size: a }, PlanKind::Buffer { size: b }) if a != b => differs.push("size"),
            (
                PlanKind::Image { format: fa, size: sa, mips: ma, layers: la, samples: na, volume: va, cube: ca },
                PlanKind::Image { format: fb, size: sb, mips: mb, layers: lb, samples: nb, volume: vb, cube: cb },
            ) => {
                let same_size = sa == sb;
                for (differ, what) in [
                    (fa != fb, "format"),
                    (la != lb, "layers"),
                    (na != nb, "samples"),
                    (va != vb, "dimensions"),
                    (ca != cb, "cube"),
                    (same_size && ma != mb, "mips"),
                ] {
                    if differ {
                        differs.push(what);
                    }
                }
                if differs.is_empty() && !same_size {
                    let graphics = !matches!(self.queues[PassQueue::Graphics as usize], Runs::Nowhere);
                    if !blends(fa) || na > 1 {
                        differs.push("size");
                        help = "give it the same size: its format or samples cannot be scaled by a blit".to_owned();
                    } else if !graphics {
                        code = Code::BadQueue;
                        differs.push("size");
                        help = format!(
                            "give it the same size: profile \"{}\" has no graphics queue to scale it on",
                            self.profile.name
                        );
                    }
                }
            }
            _ => {}
        }
        if !differs.is_empty() {
            let says = format!("modifies \"{name}\", but its {} differ", listed(&differs, "and"));
            let says = if differs.len() == 1 && !differs[0].ends_with('s') { format!("{says}s") } else { says };
            self.block(self.of_two(code, id, base, &says, &help));
        }
    }
}
