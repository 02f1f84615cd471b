"""A widget of Qt: a graph runs in a part of a window of Qt, and a slider of Qt moves its light.

Needs `pip install "rgraph-vulkan[window]" PySide6-Essentials`. An argument is the number of frames.
"""

import sys

from PySide6 import QtCore, QtWidgets
from rendercanvas.qt import QRenderWidget

import rgraph as rg

LIGHT = """
struct Push { at: f32 }
var<immediate> push: Push;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4f {
    return vec4f(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return select(vec4f(0.1, 0.1, 0.2, 1.0), vec4f(1.0, 0.7, 0.3, 1.0), distance(at.xy, vec2f(push.at, 90.0)) < 40.0);
}"""

g = rg.Graph("light", size=(320, 180))
g.raster("light", LIGHT, color=g.image("picture", format="rgba8unorm"), push={"at": 160.0})
g.root("picture")

app = QtWidgets.QApplication.instance() or QtWidgets.QApplication(sys.argv[:1])
window = QtWidgets.QWidget()
window.setWindowTitle("rgraph in Qt")
layout = QtWidgets.QVBoxLayout(window)
canvas = QRenderWidget(update_mode="continuous")
canvas.setFixedSize(320, 180)
slider = QtWidgets.QSlider(QtCore.Qt.Orientation.Horizontal)
slider.setRange(0, 320)
slider.setValue(160)
layout.addWidget(canvas)
layout.addWidget(slider)
window.show()

viewer = rg.show(
    g,
    canvas=canvas,
    update=lambda number: {"params": {"light": {"at": float(slider.value())}}},
    frames=int(sys.argv[1]) if len(sys.argv) > 1 else None,
    wait=False,
)
if __name__ == "__main__":
    viewer.run()
