"""REST: the operations of the engine over HTTP, checked by types and described as OpenAPI; needs the extra `serve`."""
