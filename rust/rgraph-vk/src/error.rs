//! What can go wrong when plans run: whose fault it is, what was called, what would help.

use std::fmt;

use ash::vk;
pub use rgraph_plan::error::Code;
use rgraph_plan::error::{GraphError, Mistake};
use rgraph_shader::ShaderError;
use rgraph_work::{CallbackError, WorkError};

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The declaration, the work of a pass or an input is wrong.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A shader is wrong.
    #[error(transparent)]
    Shader(Box<ShaderError>),
    /// The driver refused.
    #[error(transparent)]
    Device(Box<DeviceError>),
    /// Something is still in use.
    #[error(transparent)]
    Busy(#[from] BusyError),
    /// A plan that may not run.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// A function of the caller's failed; its error, unchanged.
    #[error("{0}")]
    Callback(CallbackError),
}

impl From<ShaderError> for Error {
    fn from(error: ShaderError) -> Self {
        Self::Shader(Box::new(error))
    }
}

impl From<WorkError> for Error {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Graph(error) => Self::Graph(error),
            WorkError::Shader(error) => Self::Shader(error),
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        Self::Device(Box::new(error))
    }
}

impl From<Box<DeviceError>> for Error {
    fn from(error: Box<DeviceError>) -> Self {
        Self::Device(error)
    }
}

impl Error {
    /// A wrong input of a run.
    pub fn input(resource: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Graph(GraphError::one(Mistake::new(Code::BadInput, message, help).resource(resource)))
    }

    /// Work that does not fit its pass.
    pub fn work(pass: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Graph(GraphError::one(Mistake::new(Code::BadWork, message, help).pass(pass)))
    }

    /// Whether the device is lost.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Device(error) if error.is_lost())
    }
}

/// A fault of the driver's, or a device that cannot do what is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceError {
    /// Its kind: a code of devices, `RG-E1xx`.
    pub code: Code,
    /// The Vulkan function that failed, if one did.
    pub call: Option<&'static str>,
    /// What it returned.
    pub result: Option<vk::Result>,
    /// The pass, if known.
    pub pass: Option<String>,
    /// The resource, if one is meant.
    pub resource: Option<String>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What was found, line by line.
    pub notes: Vec<String>,
    /// How to fix it, ready to type.
    pub help: String,
}

impl DeviceError {
    /// An error of our own about the device.
    pub fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            call: None,
            result: None,
            pass: None,
            resource: None,
            message: message.into(),
            notes: Vec::new(),
            help: help.into(),
        }
    }

    /// Whether a call returned that the device is lost.
    pub fn is_lost(&self) -> bool {
        self.result == Some(vk::Result::ERROR_DEVICE_LOST)
    }

    /// A failed Vulkan call.
    pub fn call(call: &'static str, result: vk::Result) -> Self {
        let (code, help) = match result {
            vk::Result::ERROR_DEVICE_LOST => (Code::Lost, "close the device and open it again"),
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                (Code::NoMemory, "drop results and compiled graphs that are not needed, or use smaller images")
            }
            _ => (Code::Failed, ""),
        };
        Self { call: Some(call), result: Some(result), ..Self::new(code, "", help) }
    }

    /// Names the pass.
    #[must_use]
    pub fn in_pass(mut self, pass: &str) -> Self {
        self.pass.get_or_insert_with(|| pass.to_owned());
        self
    }

    /// Names the resource.
    #[must_use]
    pub fn of(mut self, resource: &str) -> Self {
        self.resource = Some(resource.to_owned());
        self
    }

    /// Adds a line of what was found.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The result's name, as Vulkan spells it without `VK_`.
    pub fn result_name(&self) -> Option<String> {
        self.result.map(|result| format!("{result:?}"))
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.text())?;
        if let Some(pass) = &self.pass {
            write!(f, " pass \"{pass}\":")?;
        }
        if let (Some(call), Some(result)) = (self.call, self.result_name()) {
            write!(f, " {call} returned {result}")?;
            if !self.message.is_empty() {
                write!(f, ": {}", self.message)?;
            }
        } else {
            write!(f, " {}", self.message)?;
        }
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for DeviceError {}

/// Something is still in use, or is used by another thread.
#[derive(Clone, Debug)]
pub struct BusyError {
    /// Its kind: a code of what is in use, `RG-E4xx`.
    pub code: Code,
    /// What is in use.
    pub message: String,
    /// How to fix it, ready to type.
    pub help: String,
}

impl fmt::Display for BusyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}\n  help: {}", self.code, self.message, self.help)
    }
}

impl std::error::Error for BusyError {}

/// A plan that was refused.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanError {
    /// Its kind: a code of plans, `RG-E5xx`.
    pub code: Code,
    /// The pass of the first finding, if it names one.
    pub pass: Option<String>,
    /// The resource of the first finding, if it names one.
    pub resource: Option<String>,
    /// The fault, in one sentence.
    pub message: String,
    /// Findings, line by line.
    pub notes: Vec<String>,
    /// The repair.
    pub help: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)?;
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        write!(f, "\n  help: {}", self.help)
    }
}

impl std::error::Error for PlanError {}

/// Results of Vulkan calls, with the name of the call.
pub(crate) trait Called<T> {
    /// The value, or the error that names the call.
    fn called(self, call: &'static str) -> Result<T, Error>;
}

impl<T> Called<T> for Result<T, vk::Result> {
    fn called(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|result| DeviceError::call(call, result).into())
    }
}
