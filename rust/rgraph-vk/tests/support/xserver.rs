//! A real X server without a screen, and windows on it, through libxcb, which every driver for X windows brings.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::ptr::NonNull;

/// An X server that ends with the value.
pub struct Server {
    child: Child,
    pub display: String,
}

impl Server {
    /// Starts `Xvfb`; an error where it is not installed.
    pub fn start() -> Result<Self, String> {
        let mut child = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("Xvfb: {error}"))?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no output")?;
        BufReader::new(out).read_line(&mut line).map_err(|error| format!("Xvfb: {error}"))?;
        let number = line.trim();
        if number.is_empty() {
            let _ = child.kill();
            return Err("Xvfb ended at once".to_owned());
        }
        Ok(Self { display: format!(":{number}"), child })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[repr(C)]
struct Roots {
    data: *const Screen,
    rest: [c_int; 2],
}

#[repr(C)]
struct Screen {
    root: u32,
    colormap: u32,
    white: u32,
    black: u32,
    masks: u32,
    size: [u16; 4],
    maps: [u16; 2],
    visual: u32,
}

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn free(what: *mut c_void);
}

macro_rules! xcb {
    ($($name:ident: fn($($kind:ty),*) $(-> $out:ty)?;)+) => {
        /// Functions of libxcb.
        #[derive(Clone, Copy)]
        #[allow(non_snake_case, reason = "libxcb's names")]
        struct Xcb { $($name: unsafe extern "C" fn($($kind),*) $(-> $out)?,)+ }

        impl Xcb {
            fn load() -> Result<Self, String> {
                // SAFETY: libxcb's initialisers do nothing.
                let library = unsafe { dlopen(c"libxcb.so.1".as_ptr(), 2) };
                if library.is_null() {
                    return Err("libxcb.so.1 is not installed".to_owned());
                }
                let find = |name: &CStr| {
                    // SAFETY: the library is open.
                    let found = unsafe { dlsym(library, name.as_ptr()) };
                    if found.is_null() { Err(format!("libxcb lacks {name:?}")) } else { Ok(found) }
                };
                Ok(Self { $($name: {
                    let name = CString::new(concat!("xcb_", stringify!($name))).map_err(|error| error.to_string())?;
                    // SAFETY: the function has that signature (xcb/xproto.h).
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) $(-> $out)?>(find(&name)?) }
                },)+ })
            }
        }
    };
}

type Connection = *mut c_void;

xcb! {
    connect: fn(*const c_char, *mut c_int) -> Connection;
    connection_has_error: fn(Connection) -> c_int;
    disconnect: fn(Connection);
    get_setup: fn(Connection) -> *const c_void;
    setup_roots_iterator: fn(*const c_void) -> Roots;
    generate_id: fn(Connection) -> u32;
    create_window: fn(Connection, u8, u32, u32, i16, i16, u16, u16, u16, u16, u32, u32, *const u32) -> u32;
    map_window: fn(Connection, u32) -> u32;
    configure_window: fn(Connection, u32, u16, *const u32) -> u32;
    destroy_window: fn(Connection, u32) -> u32;
    get_geometry: fn(Connection, u32) -> u32;
    get_geometry_reply: fn(Connection, u32, *mut *mut c_void) -> *mut c_void;
    get_image: fn(Connection, u8, u32, i16, i16, u16, u16, u32) -> u32;
    get_image_reply: fn(Connection, u32, *mut *mut c_void) -> *mut u8;
    get_image_data: fn(*const u8) -> *const u8;
    get_image_data_length: fn(*const u8) -> c_int;
}

/// A connection to an X server.
pub struct Display {
    xcb: Xcb,
    raw: Connection,
    screen: [u32; 2],
    opened: Cell<i16>,
    _server: Server,
}

impl Display {
    /// A server of its own, and a connection to it.
    pub fn open() -> Result<Self, String> {
        let (server, xcb) = (Server::start()?, Xcb::load()?);
        let name = CString::new(&*server.display).map_err(|error| error.to_string())?;
        // SAFETY: the name is terminated; no screen number is asked for.
        let raw = unsafe { (xcb.connect)(name.as_ptr(), std::ptr::null_mut()) };
        // SAFETY: libxcb always returns a connection, maybe one with an error.
        if unsafe { (xcb.connection_has_error)(raw) } != 0 {
            return Err(format!("no connection to the X server {}", server.display));
        }
        // SAFETY: the connection is good, so it has a setup with one screen.
        let screen = unsafe { &*(xcb.setup_roots_iterator)((xcb.get_setup)(raw)).data };
        Ok(Self { xcb, raw, screen: [screen.root, screen.visual], opened: Cell::new(0), _server: server })
    }

    /// The connection, for surfaces.
    pub fn raw(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.raw)
    }

    /// Opens a window and shows it; the next four do not cover it.
    pub fn window(&self, [width, height]: [u16; 2]) -> u32 {
        let (xcb, raw, [root, visual]) = (&self.xcb, self.raw, self.screen);
        let x = self.opened.replace((self.opened.get() + 1) % 4) * 200;
        // SAFETY: the connection is good; no attributes are given.
        unsafe {
            let id = (xcb.generate_id)(raw);
            (xcb.create_window)(raw, 0, id, root, x, 0, width, height, 0, 1, visual, 0, std::ptr::null());
            (xcb.map_window)(raw, id);
            self.size(id);
            id
        }
    }

    /// Changes a window's size; it has it when this returns.
    pub fn resize(&self, window: u32, size: [u16; 2]) {
        let values = size.map(u32::from);
        // SAFETY: width and height are the values that the mask names.
        unsafe { (self.xcb.configure_window)(self.raw, window, 4 | 8, values.as_ptr()) };
        assert_eq!(self.size(window), Some(size));
    }

    /// A window's size, if there is such a window.
    pub fn size(&self, window: u32) -> Option<[u16; 2]> {
        // SAFETY: the connection is good; a reply is header, root, position, size, border.
        unsafe {
            let reply = (self.xcb.get_geometry_reply)(
                self.raw,
                (self.xcb.get_geometry)(self.raw, window),
                std::ptr::null_mut(),
            );
            if reply.is_null() {
                return None;
            }
            let words = reply.cast::<u16>();
            let size = [*words.add(8), *words.add(9)];
            free(reply);
            Some(size)
        }
    }

    /// Destroys a window; it is gone when this returns.
    pub fn destroy(&self, window: u32) {
        // SAFETY: the connection is good.
        unsafe { (self.xcb.destroy_window)(self.raw, window) };
        assert_eq!(self.size(window), None);
    }

    /// What a window shows: red, green and blue of each texel.
    pub fn screenshot(&self, window: u32) -> Vec<[u8; 3]> {
        let [width, height] = self.size(window).expect("the window is there");
        // SAFETY: the connection is good; the reply's data have as many bytes as it says.
        unsafe {
            let cookie = (self.xcb.get_image)(self.raw, 2, window, 0, 0, width, height, u32::MAX);
            let reply = (self.xcb.get_image_reply)(self.raw, cookie, std::ptr::null_mut());
            assert!(!reply.is_null(), "the X server gives a picture");
            let length = (self.xcb.get_image_data_length)(reply) as usize;
            let bytes = std::slice::from_raw_parts((self.xcb.get_image_data)(reply), length);
            let texels = bytes.chunks_exact(4).map(|texel| [texel[2], texel[1], texel[0]]).collect();
            free(reply.cast());
            texels
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // SAFETY: used no more.
        unsafe { (self.xcb.disconnect)(self.raw) };
    }
}
