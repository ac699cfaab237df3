/// Byte strings in one allocation, such as the parts of a message.
///
/// Using one of them doesn't count references. Threads that all use the same ones would otherwise
/// wait for each other's access to the counts.
public struct JoinedBytes: Sendable {
  private let bytes: [UInt8]
  private let ends: [Int]

  /// Joins byte strings; they keep their positions, from 0.
  public init(_ strings: [[UInt8]]) {
    bytes = Array(strings.joined())
    var end = 0
    ends = strings.map { string in
      end += string.count
      return end
    }
  }

  /// Appends the byte string at a position to `output`.
  public func append(_ index: Int, to output: inout [UInt8]) {
    let range = (index == 0 ? 0 : ends[index - 1])..<ends[index]
    let source = bytes.span
    output.append(addingCapacity: range.count) { output in
      for index in range { output.append(source[index]) }
    }
  }
}
