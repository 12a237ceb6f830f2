@echo off
rem Runs pickaxe on the Node.js that came with it.
"%~dp0node\node.exe" "%~dp0app\dist\cli\main.js" %*
