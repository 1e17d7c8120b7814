"""Events of a simulated market, such as a halt or a flash crash, each in a file of its own."""
