package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/axsched/ax/host/client"
)

// A program starts a task and waits for the end of the run.
func Example() {
	c, err := client.New("https://ax.example", client.Options{Token: os.Getenv("AX_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	id, err := c.Run(ctx, "nightly-report", client.RunOptions{Params: map[string]any{"day": "2026-03-01"}, Key: "report-2026-03-01"})
	if err != nil {
		log.Fatal(err)
	}
	run, err := c.Wait(ctx, id, 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Status, run.Message)
}
