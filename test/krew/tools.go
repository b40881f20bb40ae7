//go:build tools

// Package tools names the programs of krew that the tests run, so that go.sum pins them.
package tools

import (
	_ "sigs.k8s.io/krew/cmd/krew"
	_ "sigs.k8s.io/krew/cmd/validate-krew-manifest"
)
