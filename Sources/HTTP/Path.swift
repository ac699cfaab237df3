import Text

/// A URL path with typed parameters, declared once for matching and for links.
///
/// ```swift
/// let account = Path("projects", nil, "accounts", nil, parameters: ProjectID.self, UserID.self)
/// account(project, user)  // "/projects/p1/accounts/a9"
/// account.match(target)   // (ProjectID, UserID)?
/// ```
///
/// A segment can't be `.` or `..` in a link: clients resolve those even when they're
/// percent-encoded (URL Standard section 4.4). Values that can be `.` or `..` need another
/// spelling.
public struct Path<each Parameter: PathParameter>: Sendable {
  /// The segments in order.
  public let components: [PathComponent]
  private let positions: [(index: Int, suffix: String)]
  /// The encoded text before each parameter and after the last one.
  private let pieces: JoinedBytes

  /// Creates a path; traps unless there are as many parameter components as types.
  public init(_ components: PathComponent..., parameters: repeat (each Parameter).Type) {
    self.init(components, parameters: repeat each parameters)
  }

  /// Creates a path; traps unless there are as many parameter components as types.
  public init(_ components: [PathComponent], parameters: repeat (each Parameter).Type) {
    self.components = components
    var positions: [(index: Int, suffix: String)] = []
    for (index, component) in components.enumerated() {
      guard case .parameter(let suffix) = component else { continue }
      positions.append((index, suffix))
    }
    self.positions = positions
    pieces = JoinedBytes(Self.pieces(of: components))
    var types = 0
    for _ in repeat (each parameters) { types += 1 }
    precondition(types == positions.count, "a path has one type for each parameter")
  }

  /// Returns the percent-encoded link for these values.
  public func callAsFunction(_ parameter: repeat each Parameter) -> String {
    var texts: [String] = []
    for value in repeat each parameter { texts.append(value.pathSegment) }
    return link(texts)
  }

  /// Returns the percent-encoded link for the texts of the parameters; traps unless there's one for
  /// each.
  public func link(_ texts: [String]) -> String {
    precondition(texts.count == positions.count, "a link has one text for each parameter")
    var link: [UInt8] = []
    link.reserveCapacity(80)
    for (index, text) in texts.enumerated() {
      pieces.append(index, to: &link)
      URIComponent.append(text, to: &link)
    }
    pieces.append(texts.count, to: &link)
    return String(decoding: link, as: UTF8.self)
  }

  private static func pieces(of components: [PathComponent]) -> [[UInt8]] {
    guard !components.isEmpty else { return [[UInt8(ascii: "/")]] }
    let others = StaticString(":@!$&'()*+,;=")
    var pieces: [[UInt8]] = []
    var piece: [UInt8] = []
    for component in components {
      piece.append(UInt8(ascii: "/"))
      switch component {
      case .literal(let text): URIComponent.append(text, to: &piece, keeping: others)
      case .parameter(let suffix):
        pieces.append(piece)
        piece = []
        URIComponent.append(suffix, to: &piece, keeping: others)
      }
    }
    return pieces + [piece]
  }

  /// Returns the parameters of a target; nil when it doesn't match this path.
  public func match(_ target: Target) -> (repeat each Parameter)? {
    let segments = target.segments
    guard segments.count == components.count else { return nil }
    for index in components.indices {
      switch components[index] {
      case .literal(let text):
        guard segments[index] == UntrustedText(text) else { return nil }
      case .parameter(let suffix):
        guard stem(of: segments[index], before: suffix) != nil else { return nil }
      }
    }
    return read(segments)
  }

  /// Returns the parameters of segments whose literals are known to match.
  func read(_ segments: [UntrustedText]) -> (repeat each Parameter)? {
    var cursor = Cursor(segments: segments, positions: positions)
    do {
      return (repeat try cursor.next((each Parameter).self))
    } catch {
      return nil
    }
  }
}

extension Path {
  /// The path with the type of each parameter, such as `/projects/{ProjectID}`.
  public var pattern: String {
    var types: [String] = []
    for type in repeat (each Parameter).self { types.append(String(describing: type)) }
    var next = types.makeIterator()
    let segments = components.map { component in
      switch component {
      case .literal(let text): text
      case .parameter(let suffix): "{" + (next.next() ?? "") + "}" + suffix
      }
    }
    return "/" + segments.joined(separator: "/")
  }
}

/// Parses parameters in order from the segments of a target.
private struct Cursor {
  struct Unreadable: Error {}

  let segments: [UntrustedText]
  let positions: [(index: Int, suffix: String)]
  var place = 0

  mutating func next<Parameter: PathParameter>(
    _ type: Parameter.Type
  ) throws(Unreadable) -> Parameter {
    let (index, suffix) = positions[place]
    place += 1
    guard let text = stem(of: segments[index], before: suffix),
      let parameter = Parameter(pathSegment: text)
    else { throw Unreadable() }
    return parameter
  }
}
