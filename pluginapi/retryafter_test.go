package pluginapi_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/axsched/ax/pluginapi"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	asked := pluginapi.RetryAfter(io.EOF, time.Minute)
	tests := map[string]struct {
		err  error
		want time.Duration
	}{
		"none":      {io.EOF, 0},
		"no error":  {pluginapi.RetryAfter(nil, time.Minute), 0},
		"asked":     {asked, time.Minute},
		"wrapped":   {fmt.Errorf("post: %w", asked), time.Minute},
		"no wait":   {pluginapi.RetryAfter(io.EOF, 0), 0},
		"negative":  {pluginapi.RetryAfter(io.EOF, -time.Second), 0},
		"outermost": {pluginapi.RetryAfter(asked, time.Hour), time.Hour},
	}
	for name, test := range tests {
		if got := pluginapi.RetryWait(test.err); got != test.want {
			t.Errorf("%s: wait %v, want %v", name, got, test.want)
		}
	}
	if asked.Error() != "EOF" || !errors.Is(asked, io.EOF) || pluginapi.RetryAfter(nil, time.Minute) != nil {
		t.Errorf("the error became %v", asked)
	}
}
