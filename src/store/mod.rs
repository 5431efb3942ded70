//! The recording on disk: format, writer, reader. It never knows whether its events came from a live capture.
