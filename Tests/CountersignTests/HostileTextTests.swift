import HostileText
import IdentityToolkitAPI
import Testing
import Text

@testable import countersign

/// Combining marks in an imported file don't cost additional CPU time.
struct HostileTextTests {
  private func read(_ text: String) throws -> [CSVReader.Record] {
    var reader = CSVReader()
    var records: [CSVReader.Record] = []
    try reader.take(Array(text.utf8), isLast: true, into: &records)
    return records
  }

  @Test(arguments: ["#\n", "uid,#,true\n", "uid,\"#\",true\n", "uid,a@example.com\n#,b\n"])
  func `combining marks don't make a CSV field slower`(file: String) throws {
    let work = try Work.of { text in
      let parts = file.split(separator: "#", omittingEmptySubsequences: false)
      let records = try read(parts.joined(separator: text))
      #expect(!records.isEmpty)
    }
    #expect(work.isLinear, "\(work)")
  }

  @Test func `the most combining marks accepted don't make many CSV fields slower`() throws {
    let work = try Work.of(64 << 10, HostileText.acceptedMarks) { text in
      // Fields of 61 bytes: a letter with 30 combining marks.
      var fields: [String] = []
      var rest = text.utf8[...]
      while !rest.isEmpty {
        fields.append(String(decoding: rest.prefix(61), as: UTF8.self))
        rest = rest.dropFirst(61)
      }
      let records = try read(fields.joined(separator: ",") + "\n")
      #expect(records.first?.fields?.count == fields.count)
    }
    #expect(work.isLinear, "\(work)")
  }
}
