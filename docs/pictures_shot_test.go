package docs_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	scale  = 2 // pixels of a picture for one of a page
	width  = 720
	height = 1600
	margin = 16 * scale
)

// photograph writes a picture of a page to a file, without what is empty around
// it.
func photograph(t *testing.T, page, file string) {
	t.Helper()
	dir := t.TempDir()
	shot := filepath.Join(dir, "shot.png")
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		fmt.Sprintf("--force-device-scale-factor=%d", scale), fmt.Sprintf("--window-size=%d,%d", width, height),
		"--user-data-dir="+filepath.Join(dir, "browser"), "--screenshot="+shot, "file://"+write(t, dir, "page.html", page))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(shot)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, trim(picture)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// trim cuts off what has the colour of the first corner, except for a margin.
func trim(picture image.Image) image.Image {
	empty := color.RGBAModel.Convert(picture.At(0, 0))
	var used image.Rectangle
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if color.RGBAModel.Convert(picture.At(x, y)) != empty {
				used = used.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	used = used.Inset(-margin).Intersect(picture.Bounds())
	trimmed := image.NewRGBA(image.Rect(0, 0, used.Dx(), used.Dy()))
	draw.Draw(trimmed, trimmed.Bounds(), picture, used.Min, draw.Src)
	return trimmed
}
