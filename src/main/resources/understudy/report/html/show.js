// Shows the page, when all kinds of sections are known.
'use strict';
show();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
paint();
