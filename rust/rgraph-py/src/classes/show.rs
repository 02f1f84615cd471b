//! A plan as a page, and what notebooks ask for.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyTuple};
use rgraph_report::page::{Finding, HostSpan, MOST_IN_NOTEBOOK, Measured, PassSpan, Values, still};
use rgraph_report::{Page, Series, svg};
use rgraph_vk::Measure;

use crate::arguments::convert::{Count, Text, word};
use crate::arguments::keywords;
use crate::classes::graph::PyGraph;
use crate::classes::plan::PyPlan;
use crate::classes::report::PyReport;
use crate::classes::series::{PySeries, is_series};
use crate::run::error::guarded;

/// One field of a record: by attribute, or by key of plain values.
fn field<'py>(record: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    match record.cast::<PyDict>() {
        Ok(values) => values
            .get_item(name)?
            .ok_or_else(|| PyTypeError::new_err(format!("a record of the timeline has no \"{name}\": {record}"))),
        Err(_) => record.getattr(name),
    }
}

/// The times of a `Report`, of another object with a `timeline`, or of a list of records with `name`, `queue`,
/// `begin_us` and `end_us`.
///
/// `None`: a `Report` of a frame that was not measured.
pub(crate) fn measured(report: &Bound<'_, PyAny>) -> PyResult<Option<Measured>> {
    if report.cast::<PyReport>().is_ok_and(|report| report.get().0.measure == Measure::Off) {
        return Ok(None);
    }
    let timeline = report.getattr_opt("timeline")?.unwrap_or_else(|| report.clone());
    let timeline = timeline.try_iter().map_err(|_| {
        PyTypeError::new_err(format!(
            "report has no timeline: give a Report, or a list of records with name, queue, begin_us and end_us, not {}",
            report.get_type()
        ))
    })?;
    let mut measured = Measured::default();
    for span in timeline {
        let span = span?;
        measured.passes.push(PassSpan {
            name: field(&span, "name")?.extract()?,
            queue: field(&span, "queue")?.extract()?,
            begin_us: field(&span, "begin_us")?.extract()?,
            end_us: field(&span, "end_us")?.extract()?,
            group: field(&span, "group").ok().map_or(Ok(1), |group| group.extract())?,
        });
    }
    if let Some(spans) = report.getattr_opt("host_spans")? {
        for span in spans.try_iter()? {
            let span = span?;
            measured.host.push(HostSpan {
                name: field(&span, "name")?.extract()?,
                begin_us: field(&span, "begin_us")?.extract()?,
                end_us: field(&span, "end_us")?.extract()?,
            });
        }
    }
    if let Some(calibrated) = report.getattr_opt("calibrated")? {
        measured.calibrated = calibrated.is_truthy()?;
    }
    if let Some(measure) = report.getattr_opt("measure")? {
        measured.isolated = measure.eq("passes")?;
    }
    Ok(Some(measured))
}

/// The frames of a `Series`, or of a list of frames or reports; `None` for one report.
fn several(report: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Series>>> {
    match report.cast::<PySeries>() {
        Ok(series) => Ok(Some(Arc::clone(&series.get().0))),
        Err(_) if is_series(report) => PySeries::of(report).map(Some),
        Err(_) => Ok(None),
    }
}

/// Pictures of arrays, made by `rgraph._preview`.
fn pictures(images: &Bound<'_, PyMapping>) -> PyResult<Vec<(String, String)>> {
    let module = images.py().import("rgraph._preview")?;
    let mut pictures = Vec::new();
    for item in images.items()? {
        let (name, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        if let Some(array) = mips(&array)?.first() {
            pictures.push((named(&name)?, module.call_method1("data_uri", (array,))?.extract()?));
        }
    }
    Ok(pictures)
}

/// Values of arrays by image, each array or each of its mips.
fn values(images: &Bound<'_, PyMapping>, after: bool) -> PyResult<Vec<Values>> {
    let module = images.py().import("rgraph._preview")?;
    let mut all = Vec::new();
    for item in images.items()? {
        let (name, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let name = named(&name)?;
        for (mip, array) in mips(&array)?.into_iter().enumerate() {
            let (png, size, of, layers, channels, kind, full) = module.call_method1("values", (array,))?.extract()?;
            all.push(Values {
                name: name.clone(),
                after,
                mip: mip as u32,
                png,
                size,
                of,
                layers,
                channels,
                kind,
                full,
            });
        }
    }
    Ok(all)
}

/// The name of an image, or of a handle of one.
fn named(name: &Bound<'_, PyAny>) -> PyResult<String> {
    match name.getattr_opt("name")? {
        Some(name) => name.extract(),
        None => name.extract(),
    }
}

/// The arrays of a list, which are mips from the largest on; else the array.
fn mips<'py>(array: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if array.is_instance_of::<PyList>() || array.is_instance_of::<PyTuple>() {
        return array.try_iter()?.collect();
    }
    Ok(vec![array.clone()])
}

fn findings(list: &Bound<'_, PyAny>) -> PyResult<Vec<Finding>> {
    let one = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item?;
        Ok(Finding {
            rule: item.getattr("rule")?.extract()?,
            pass: item.getattr("pass_name")?.extract()?,
            resource: item.getattr("resource")?.extract()?,
            message: item.getattr("message")?.extract()?,
        })
    };
    list.try_iter()?.map(one).collect()
}

impl PyPlan {
    /// The page of the plan alone.
    pub fn page(&self, py: Python<'_>) -> PyResult<String> {
        let (plan, graph) = (Arc::clone(self.plan()), self.declaration(None)?);
        guarded(py, move || Page { graph: graph.as_deref(), ..Page::new(&plan) }.html())
    }

    /// The still picture of the plan.
    pub fn picture(&self, py: Python<'_>) -> PyResult<String> {
        let (plan, graph) = (Arc::clone(self.plan()), self.declaration(None)?);
        guarded(py, move || svg(&plan, graph.as_deref()))
    }
}

#[pymethods]
impl PyPlan {
    /// The plan as one self-contained HTML page, to open in a browser, keep or send.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then. A plan that was read, without a graph,
    ///     shows the accesses that its file lists.
    /// report
    ///     The `Report` of a run: the timeline shows measured times, if it has any. Or a list of records with `name`,
    ///     `queue`, `begin_us` and `end_us`, in microseconds. Of many frames a `Series`, or a list of their reports.
    /// images
    ///     Arrays to look at, by name of the image: `{"lit": frame["lit"]}`; of an image with mips a list of arrays,
    ///     the largest first. Images with a side above 256 texels are shown smaller, each texel a mean.
    /// findings
    ///     Findings of `Plan.check` to show.
    /// against
    ///     A later plan to compare with; the differences are those of `diff`.
    /// against_images
    ///     Arrays of the later plan's images: those that both have are shown before, after, and as a difference; the
    ///     others as images of one plan only.
    #[pyo3(signature = (graph = None, *, report = None, images = None, findings = None, against = None, against_images = None, **unknown), text_signature = "($self, graph=None, *, report=None, images=None, findings=None, against=None, against_images=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn to_html(
        slf: &Bound<'_, Self>,
        graph: Option<&Bound<'_, PyGraph>>,
        report: Option<&Bound<'_, PyAny>>,
        images: Option<&Bound<'_, PyMapping>>,
        findings: Option<&Bound<'_, PyAny>>,
        against: Option<&Bound<'_, Self>>,
        against_images: Option<&Bound<'_, PyMapping>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        keywords::refuse_of::<Self>("to_html", unknown)?;
        let py = slf.py();
        let frames = report.map(several).transpose()?.flatten();
        let report = report.filter(|_| frames.is_none());
        let measured = report.map(measured).transpose()?.flatten();
        let mut values = images.map(|images| values(images, false)).transpose()?.unwrap_or_default();
        values.extend(against_images.map(|images| self::values(images, true)).transpose()?.unwrap_or_default());
        let images = images.map(pictures).transpose()?.unwrap_or_default();
        let mut later_images = against_images.map(pictures).transpose()?.unwrap_or_default();
        later_images.retain(|(name, _)| images.iter().all(|(known, _)| known != name));
        let findings = findings.map(self::findings).transpose()?.unwrap_or_default();
        let declaration = slf.get().declaration(graph)?;
        let plan = Arc::clone(slf.get().plan());
        let other = match against {
            Some(other) => Some((Arc::clone(other.get().plan()), other.get().declaration(None)?)),
            None => None,
        };
        guarded(py, move || {
            Page {
                plan: &plan,
                graph: declaration.as_deref(),
                measured: measured.as_ref(),
                frames: frames.as_deref(),
                images: &images,
                later_images: &later_images,
                values: &values,
                findings: &findings,
                against: other.as_ref().map(|(plan, graph)| (&**plan, graph.as_deref())),
                live: None,
            }
            .html()
        })
    }

    /// The page that a server on this machine shows and keeps up to date, or its data as JSON.
    ///
    /// `live` names what the page has.
    #[pyo3(signature = (live, series, images, *, data))]
    fn _live(
        &self,
        py: Python<'_>,
        live: String,
        series: Option<&Bound<'_, PySeries>>,
        images: &Bound<'_, PyMapping>,
        data: bool,
    ) -> PyResult<String> {
        let frames = series.map(|series| Arc::clone(&series.get().0));
        let (plan, graph, images) = (Arc::clone(self.plan()), self.declaration(None)?, pictures(images)?);
        guarded(py, move || {
            let (graph, frames, live) = (graph.as_deref(), frames.as_deref(), Some(&*live));
            let page = Page { graph, frames, images: &images, live, ..Page::new(&plan) };
            if data { page.json() } else { page.html() }
        })
    }

    /// A still picture of the plan as SVG, for papers and reports: no script, no font, full names.
    ///
    /// Parameters
    /// ----------
    /// graph
    ///     Its graph; default: the graph it was baked from, as it was then.
    /// view
    ///     What it shows: `"plan"` (timeline and matrix), `"timeline"` (passes by queue), `"resources"` (a row per
    ///     resource with its lifetime and accesses), `"memory"` (the heaps), `"matrix"` (passes against resources).
    /// width
    ///     In pixels, kept within 320 and 20,000. Wider pictures have room for more names.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If there is no such view.
    #[pyo3(signature = (graph = None, *, view = Text("plan"), width = Count(svg::WIDTH), **unknown),
           text_signature = "($self, graph=None, *, view='plan', width=1000)")]
    fn to_svg(
        &self,
        py: Python<'_>,
        graph: Option<&Bound<'_, PyGraph>>,
        view: Text<'_>,
        width: Count,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        keywords::refuse_of::<Self>("to_svg", unknown)?;
        let named = |name: &str| svg::View::ALL.into_iter().find(|view| view.name() == name);
        let view = word(py, "view of pictures", view.0, named, svg::View::ALL.into_iter().map(svg::View::name))?;
        let (plan, graph) = (Arc::clone(self.plan()), self.declaration(graph)?);
        guarded(py, move || svg::picture(&plan, graph.as_deref(), view, width.0))
    }

    /// A trace in Chrome's JSON format, which Perfetto, speedscope and chrome://tracing read: queues and the host as
    /// lanes, memory as a counter, semaphores as arrows, barrier calls as instants, lifetimes of resources as spans.
    ///
    /// Parameters
    /// ----------
    /// report
    ///     The `Report` of a run, or a list of records with `name`, `queue`, `begin_us` and `end_us`, in microseconds;
    ///     default, and where a run was not measured: modelled times.
    #[pyo3(signature = (report = None, **unknown), text_signature = "($self, report=None)")]
    fn to_trace(
        &self,
        py: Python<'_>,
        report: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        keywords::refuse_of::<Self>("to_trace", unknown)?;
        let measured = report.map(measured).transpose()?.flatten();
        let plan = Arc::clone(self.plan());
        guarded(py, move || rgraph_report::trace(&plan, measured.as_ref()))
    }

    /// What notebooks show: the page in a frame, alive without a kernel; a still picture where that would be large.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = self.page(py)?;
        let plan = self.plan();
        if page.len() > MOST_IN_NOTEBOOK {
            let (plan, graph) = (Arc::clone(plan), self.declaration(None)?);
            return guarded(py, move || still(&plan, graph.as_deref(), page.len()));
        }
        let used: HashSet<_> = plan.batches.iter().map(|batch| batch.queue).collect();
        let shown = (page, &*plan.graph, used.len(), plan.resource_names.len());
        py.import("rgraph._reprs")?.call_method1("plan", shown)?.extract()
    }

    /// What notebooks show where scripts are not run.
    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.picture(py)
    }

    /// All of what notebooks can choose from: text, still picture, page.
    #[pyo3(signature = (include = None, exclude = None))]
    fn _repr_mimebundle_<'py>(
        &self,
        py: Python<'py>,
        include: Option<&Bound<'py, PyAny>>,
        exclude: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let bundle = PyDict::new(py);
        let wanted = |kind: &str| -> PyResult<bool> {
            let listed =
                |list: Option<&Bound<'py, PyAny>>, otherwise| list.map_or(Ok(otherwise), |list| list.contains(kind));
            Ok(listed(include, true)? && !listed(exclude, false)?)
        };
        if wanted("text/plain")? {
            let plan = Arc::clone(self.plan());
            bundle.set_item("text/plain", guarded(py, move || rgraph_report::listing(&plan))?)?;
        }
        if wanted("image/svg+xml")? {
            bundle.set_item("image/svg+xml", self.picture(py)?)?;
        }
        if wanted("text/html")? {
            bundle.set_item("text/html", self._repr_html_(py)?)?;
        }
        Ok(bundle)
    }
}
