public import Host

public struct ConsoleAssets: Sendable {
  let stylesheet: String
  let script: String
  let passkeyScript: String
  let settingsScript: String
  let sessionScript: String
  let keyFileScript: String
  let icon: String

  /// `link` returns the address of a file in `Public` by its name, preferably one that changes with
  /// the file's content; nil if the file doesn't exist.
  public init(link: (String) -> String?) throws(ConsoleError) {
    func address(_ name: String) throws(ConsoleError) -> String {
      guard let address = link(name) else { throw .missingFile(name) }
      return address
    }
    stylesheet = try address("countersign.css")
    script = try address("countersign.js")
    passkeyScript = try address("passkey.js")
    settingsScript = try address("policy.js")
    sessionScript = try address("session.js")
    keyFileScript = try address("key-file.js")
    icon = try address("mark.svg")
  }
}

public enum ConsoleError: Error, Sendable, CustomStringConvertible {
  case missingFile(String)
  case unreadable(String, SystemError)
  /// A guide doesn't begin with a heading and a paragraph.
  case guideWithoutTitle(String)
  case guide(String, any Error)

  /// Whether another attempt can succeed, although nobody changes the file.
  public var isTemporary: Bool {
    if case .unreadable(_, let reason) = self { reason.isTemporary } else { false }
  }

  public var description: String {
    switch self {
    case .missingFile(let name): "\(name) is missing"
    case .unreadable(let path, let reason): "\(path) can't be read: \(reason)"
    case .guideWithoutTitle(let path): "\(path) must begin with a heading and a paragraph"
    case .guide(let path, let error): "\(path): \(error)"
    }
  }
}
