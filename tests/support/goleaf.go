// A Go program whose time is spent in a function that calls none, and so has no frame.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

//go:noinline
func leafWork() uint32 {
	x := uint32(1)
	for i := 0; i < 600000; i++ {
		x = (x*1103515245 + 12345) & 0x7fffffff
	}
	return x
}

//go:noinline
func serveRequest() uint32 { return leafWork() + 1 }

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end, sum := time.Now().Add(time.Duration(seconds*1e9)), uint32(0)
	for time.Now().Before(end) {
		sum += serveRequest()
	}
	fmt.Println(sum)
}
