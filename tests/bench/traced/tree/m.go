package main
import "os/exec"
func main() { c := make(chan int); go func() { c <- 1 }(); <-c; exec.Command("true").Run() }
