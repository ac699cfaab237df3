/// A version of the program, such as 0.3.0.
public struct ProgramVersion: Sendable, Hashable, Comparable {
  /// The running version.
  public static let current = ProgramVersion(major: 0, minor: 3, patch: 0)
  /// The oldest version whose databases this one upgrades.
  public static let oldestUpgradable = ProgramVersion(major: 0, minor: 2, patch: 0)

  private let major: Int
  private let minor: Int
  private let patch: Int

  private init(major: Int, minor: Int, patch: Int) {
    (self.major, self.minor, self.patch) = (major, minor, patch)
  }

  /// Parses three numbers separated by periods; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { part in
      part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
    }
    guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2] else {
      return nil
    }
    self.init(major: major, minor: minor, patch: patch)
  }

  public static func < (a: ProgramVersion, b: ProgramVersion) -> Bool {
    (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
  }
}

extension ProgramVersion: CustomStringConvertible {
  public var description: String { "\(major).\(minor).\(patch)" }
}
