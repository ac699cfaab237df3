/// Where the stylesheet, the script and the mark are served.
public struct ConsoleAssets: Sendable {
  let stylesheet: String
  let script: String
  let icon: String

  /// Asks for the addresses once.
  ///
  /// - Parameter link: The address of a file of `Public` by its name, best one that changes with
  ///   the file's content; nil when there is no such file.
  /// - Throws: ``ConsoleError/missingFile(_:)``.
  public init(link: (String) -> String?) throws(ConsoleError) {
    func address(_ name: String) throws(ConsoleError) -> String {
      guard let address = link(name) else { throw .missingFile(name) }
      return address
    }
    stylesheet = try address("countersign.css")
    script = try address("countersign.js")
    icon = try address("mark.svg")
  }
}

/// Why the console cannot start.
public enum ConsoleError: Error, Sendable, CustomStringConvertible {
  /// A file that belongs to the console is not there.
  case missingFile(String)
  /// A guide that does not begin with a heading and a paragraph.
  case guideWithoutTitle(String)
  /// A guide that cannot be rendered.
  case guide(String, any Error)

  /// The fault, with the file.
  public var description: String {
    switch self {
    case .missingFile(let path): "\(path) is missing or cannot be read"
    case .guideWithoutTitle(let path): "\(path) must begin with a heading and a paragraph"
    case .guide(let path, let error): "\(path): \(error)"
    }
  }
}
