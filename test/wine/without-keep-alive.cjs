// Preloaded under Wine 8, which does not know the options of TCP keep-alive: once they were asked for, connecting fails.
require('node:net').Socket.prototype.setKeepAlive = function setKeepAlive() {
  return this;
};
