"""Colors that people with any kind of color vision tell apart (Okabe and Ito 2008)."""

BLUE = "#0072B2"
SKY = "#56B4E9"
VERMILION = "#D55E00"
GRAY = "#7F7F7F"
