package main
import "testing"
func TestA(t *testing.T) { t.TempDir() }
