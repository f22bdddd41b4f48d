// The server hands out the package's own module beside the page's: browsers resolve no package names.
import uPlot from 'uplot';
export default uPlot;
