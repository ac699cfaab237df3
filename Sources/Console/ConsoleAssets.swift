public import Host

/// The addresses of the stylesheet, scripts, and icon.
public struct ConsoleAssets: Sendable {
  let stylesheet: String
  let script: String
  /// The script of the pages that use or create passkeys.
  let passkeyScript: String
  let sessionScript: String
  let icon: String

  /// Resolves the addresses.
  ///
  /// - Parameter link: Returns the address of a file in `Public` by its name, preferably one that
  ///   changes with the file's content; nil if the file doesn't exist.
  /// - Throws: ``ConsoleError/missingFile(_:)``.
  public init(link: (String) -> String?) throws(ConsoleError) {
    func address(_ name: String) throws(ConsoleError) -> String {
      guard let address = link(name) else { throw .missingFile(name) }
      return address
    }
    stylesheet = try address("countersign.css")
    script = try address("countersign.js")
    passkeyScript = try address("passkey.js")
    sessionScript = try address("session.js")
    icon = try address("mark.svg")
  }
}

/// Why the console can't start.
public enum ConsoleError: Error, Sendable, CustomStringConvertible {
  /// A file that the console requires is missing.
  case missingFile(String)
  /// A guide, or a part of it, can't be read.
  case unreadable(String, SystemError)
  /// A guide doesn't begin with a heading and a paragraph.
  case guideWithoutTitle(String)
  /// A guide can't be rendered.
  case guide(String, any Error)

  /// Whether another attempt can succeed, although nobody changes the file.
  public var isTemporary: Bool {
    if case .unreadable(_, let reason) = self { reason.isTemporary } else { false }
  }

  /// The error, with the file's path.
  public var description: String {
    switch self {
    case .missingFile(let name): "\(name) is missing"
    case .unreadable(let path, let reason): "\(path) can't be read: \(reason)"
    case .guideWithoutTitle(let path): "\(path) must begin with a heading and a paragraph"
    case .guide(let path, let error): "\(path): \(error)"
    }
  }
}
