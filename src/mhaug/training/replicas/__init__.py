"""Many runs in one program: a leading replica axis, and on a GPU one captured step."""
