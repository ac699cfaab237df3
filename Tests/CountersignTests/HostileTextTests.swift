import HTTP
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

  /// Anyone can send one, so reports have at most 16 KiB.
  @Test(arguments: [
    ##"{"csp-report":{"effective-directive":"#"}}"##, ##"{"csp-report":{"document-uri":"#"}}"##,
    ##"{"csp-report":{"blocked-uri":"https://a/#","effective-directive":"img-src"}}"##,
    ##"{"csp-report":{"#":"x"}}"##, ##"{"#":"x"}"##,
  ])
  func `combining marks don't make a report of a violation slower`(report: String) throws {
    let reports = ViolationReports(log: Log(.json, write: { _, _ in true }))
    let target = try #require(Target("/csp-reports"))
    let parts = report.split(separator: "#", omittingEmptySubsequences: false)
    let receive: (String) throws -> Void = { text in
      let body = Array(parts.joined(separator: text).utf8)
      // A single report is too small to measure.
      for _ in 0..<16 {
        let answer = reports.response(
          to: Request(
            method: .post, target: target, fields: [.contentType: ViolationReport.mediaType],
            body: body))
        #expect(answer != nil)
      }
    }
    let work = try Work.of(7 << 10, HostileText.marks, receive)
    #expect(work.isLinear, "\(work)")
    let accepted = try Work.of(7 << 10, HostileText.acceptedMarks, receive)
    #expect(accepted.isLinearInLength, "\(accepted)")
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
      #expect(try records.first?.fields.get().count == fields.count)
    }
    #expect(work.isLinear, "\(work)")
  }
}
