#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads {"id":7,"input":[1,2,6]} and writes {"id": 7, "output": 3}, line by line. */
int main(void) {
  char *line = NULL;
  size_t size = 0;
  puts("{\"ready\": true}");
  fflush(stdout);
  while (getline(&line, &size, stdin) > 0) {
    long id = strtol(strstr(line, "\"id\":") + 5, NULL, 10);
    char *at = strchr(line, '[');
    double sum = 0;
    long count = 0;
    for (char *next; *at != ']'; at = next, count++) {
      double value = strtod(at + 1, &next);
      if (next == at + 1) break;
      sum += value;
    }
    if (*at == ']') printf("{\"id\": %ld, \"output\": %.17g}\n", id, sum / count);
    else printf("{\"id\": %ld, \"error\": \"element %ld is no number\"}\n", id, count);
    fflush(stdout);
  }
}
