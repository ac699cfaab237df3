public struct AuditVerification: Sendable {
  /// Something that doesn't match; positions are those of the chain.
  public enum Fault: Sendable, Hashable {
    /// The entry, or one before it, isn't as it was when it was sealed.
    case changed(Int64)
    case deleted(Int64)
    /// The links from one position to another were deleted.
    case linksDeleted(Int64, Int64)
    /// The entry comes after one that it was before.
    case reordered(Int64)
    case inserted(before: Int64)
    /// The chain isn't as a key signed it at the position.
    case headDiffers(Int64)
    /// The signature at the position isn't valid, or of an unknown key.
    case headInvalid(Int64)
    case headDeleted(Int64)
    /// The record of removed entries up to the position isn't valid, or doesn't match the chain.
    case tombstoneInvalid(Int64)
    /// The chain was signed up to the position, but ends before it.
    case truncated(Int64)
    /// Filtered logs and reports leave the entry out.
    case hidden(Int64)
    /// Filtered logs and reports leave out what's written from now on; the position is the last one.
    case hiding(after: Int64)
    case exportInvalid(line: Int)

    public var position: Int64? {
      switch self {
      case .changed(let position), .deleted(let position), .linksDeleted(let position, _),
        .reordered(let position), .inserted(let position), .headDiffers(let position),
        .headInvalid(let position), .headDeleted(let position), .tombstoneInvalid(let position),
        .truncated(let position), .hidden(let position), .hiding(let position):
        position
      case .exportInvalid: nil
      }
    }
  }

  /// What exported heads prove.
  public struct Exported: Sendable {
    /// The newest one that matches the chain.
    public internal(set) var newest: AuditHead?
    /// How many can't be compared, because their entries were removed because of their age.
    public internal(set) var removed = 0
  }

  public internal(set) var entries: Int64 = 0
  /// The position of the last sealed entry; 0 if none is.
  public internal(set) var end: Int64 = 0
  public internal(set) var unsealed: Int64 = 0
  /// The number of erased parts of entries.
  public internal(set) var erased = 0
  /// The newest signed head that matches the chain.
  public internal(set) var head: AuditHead?
  public internal(set) var removed: [AuditTombstone] = []
  public internal(set) var exported: Exported?
  public internal(set) var faults: [Fault] = []
}
