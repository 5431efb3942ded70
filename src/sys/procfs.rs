//! What /proc says about processes, threads and the machine.
