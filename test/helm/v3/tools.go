//go:build tools

// Package tools names the chart tool that the tests run, so that go.sum pins it.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
