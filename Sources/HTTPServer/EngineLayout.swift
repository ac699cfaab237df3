import CMicroHTTPD

/// What this module assumes about the inside of libmicrohttpd, checked before the first request.
///
/// Requests are judged by where the engine keeps their parts in memory (`HeaderReader`), and chunked
/// bodies are read here rather than by the engine (`ChunkDecoder`), which is told where they end.
/// Another version could do either in another way, so the version has to be one that was tested,
/// and the place of the one number that is written is found by an experiment rather than assumed.
struct EngineLayout: Sendable {
  /// The versions whose buffers were tested with raw bytes.
  static let testedVersions: Set = ["0.9.75"]

  /// Where in a connection the engine counts the bytes that are left of a body.
  let remaining: Int

  /// The layout of the library in use, found once.
  private static let found = Result<EngineLayout, ServerError> { () throws(ServerError) in
    try EngineLayout(version: unsafe String(cString: MHD_get_version()))
  }

  /// The layout of the library in use.
  static func checked() throws(ServerError) -> EngineLayout {
    try found.get()
  }

  init(version: String) throws(ServerError) {
    guard EngineLayout.testedVersions.contains(version) else {
      let tested = EngineLayout.testedVersions.sorted().joined(separator: ", ")
      throw .cannotStart(
        reason:
          "libmicrohttpd \(version) isn't supported: requests are checked in its buffers, and "
          + "only those of \(tested) were tested.")
    }
    guard EngineHooks.areInPlace else {
      throw .cannotStart(reason: "libmicrohttpd can't be hooked: the program exports no symbols.")
    }
    remaining = engine_find_remaining()
    guard remaining > 0 else {
      throw .cannotStart(reason: "libmicrohttpd \(version) isn't built as the tested one was.")
    }
  }
}
