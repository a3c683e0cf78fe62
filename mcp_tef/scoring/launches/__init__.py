"""What deserves a second look before a program is started; pure."""
