import HTTP

/// Where to go on after a sign-in that stood in the way.
///
/// An address is taken from a form or a query that anybody can write, so it counts only when it is
/// a path of our own: it is read as a `Target`, must match a route of the console that answers GET,
/// and is written anew. Nothing that leads to another host passes that.
enum ReturnAddress {
  /// The address of a request, when one can go back to it.
  static func current(_ request: Request) -> String? {
    let target = request.target
    guard !target.segments.isEmpty, target.segments != ["sign-out"],
      target.segments.first != "sign-in"
    else { return nil }
    guard request.isReading, let query = target.rawQuery else { return target.rawPath }
    return target.rawPath + "?" + query
  }

  /// The address as far as it may be trusted; nil when it may not.
  static func checked(_ text: String?, among routes: [Route]) -> String? {
    guard let text, text.utf8.count <= 2000, text.utf8.first == UInt8(ascii: "/"),
      !text.hasPrefix("//"), !text.contains("\\"), let target = Target(text),
      !["sign-in", "sign-out", "setup", "invitation"].contains(target.segments.first),
      routes.contains(where: { $0.method == .get && $0.fits(target) })
    else { return nil }
    return text
  }
}

extension Route {
  /// Whether a target has the words of this route's path.
  fileprivate func fits(_ target: Target) -> Bool {
    components.count == target.segments.count
      && zip(components, target.segments).allSatisfy { component, segment in
        switch component {
        case .literal(let text): segment == UntrustedText(text)
        case .parameter(let suffix): segment.utf8.count > suffix.utf8.count
        }
      }
  }
}
