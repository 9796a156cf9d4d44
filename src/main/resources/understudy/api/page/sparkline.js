// A small line of the latest values on a canvas.

import { color, onColorChange, prepareCanvas } from './format.js';

const LENGTH = 120;

let stroke = color('accent');
onColorChange(() => { stroke = color('accent'); });

export class Sparkline {
  constructor(canvas) {
    this.canvas = canvas;
    this.values = [];
  }

  add(value) {
    this.values.push(value);
    if (this.values.length > LENGTH) {
      this.values.shift();
    }
  }

  draw() {
    const { context, width, height } = prepareCanvas(this.canvas);
    const top = Math.max(1, ...this.values);
    context.strokeStyle = stroke;
    context.lineWidth = 1.25;
    context.beginPath();
    this.values.forEach((value, i) => {
      const x = width - (this.values.length - 1 - i) * width / (LENGTH - 1);
      context.lineTo(x, height - 1 - value / top * (height - 2));
    });
    context.stroke();
  }
}
