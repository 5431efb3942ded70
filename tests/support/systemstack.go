// A Go program whose time is spent on the runtime's system stack: runtime.Callers walks a goroutine's stack there.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

//go:noinline
func captureStack(pcs []uintptr) int { return runtime.Callers(0, pcs) }

//go:noinline
func serveRequest(pcs []uintptr) int { return captureStack(pcs) + 1 }

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * 1e9))
	pcs, frames := make([]uintptr, 64), 0
	for time.Now().Before(end) {
		for i := 0; i < 200; i++ {
			frames += serveRequest(pcs)
		}
	}
	fmt.Println(frames)
}
