// The yardstick of `npm run bench -- owner-scan`: every object that a group owns, found with client-go's metadata client.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"
)

const group = "projectcalico.org/"

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	config.QPS, config.Burst = 1000, 1000
	resources, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	check(err)
	client := metadata.NewForConfigOrDie(config)

	queue := make(chan schema.GroupVersionResource)
	found := make(chan int)
	var workers sync.WaitGroup
	for range 6 {
		workers.Go(func() {
			for resource := range queue {
				found <- scan(client, resource)
			}
		})
	}
	go func() {
		for _, list := range resources {
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			check(err)
			for _, one := range list.APIResources {
				if strings.Contains(fmt.Sprint(one.Verbs), "list") && one.Name != "events" && one.Name != "componentstatuses" {
					queue <- version.WithResource(one.Name)
				}
			}
		}
		close(queue)
		workers.Wait()
		close(found)
	}()
	total := 0
	for count := range found {
		total += count
	}
	fmt.Println(total)
}

func scan(client metadata.Interface, resource schema.GroupVersionResource) int {
	count := 0
	size, err := strconv.ParseInt(os.Getenv("PAGE_SIZE"), 10, 64)
	check(err)
	options := metav1.ListOptions{Limit: size}
	for {
		list, err := client.Resource(resource).List(context.Background(), options)
		check(err)
		for _, item := range list.Items {
			for _, owner := range item.OwnerReferences {
				if strings.HasPrefix(owner.APIVersion, group) {
					count++
				}
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return count
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
