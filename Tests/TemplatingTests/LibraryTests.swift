import Foundation
import Templating
import Testing

struct LibraryTests {
  /// A temporary folder with the given files.
  private func folder(_ files: [String: [UInt8]]) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    for (path, bytes) in files {
      let file = folder.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: file)
    }
    return folder
  }

  @Test func `a template is named after its path`() throws {
    let folder = try folder([
      "page.mustache": Array("{{>users/list}}".utf8),
      "users/list.mustache": Array("<li>{{title}}\n".utf8), "users/notes.md": [0xFF],
    ])
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try TemplateLibrary(folder: folder.path())
    #expect(library.names == ["page", "users/list"])
    let page = try library.template("page", for: TeamPage.self).render(TeamPage(title: "&"))
    #expect(String(decoding: page, as: UTF8.self) == "<li>&amp;\n")
  }

  @Test func `an indented line with an element or a section continues the line before`() throws {
    let folder = try folder([
      "page.mustache": Array(
        "<p>{{#title}}\n  <b>{{.}}</b>{{/title}}\n    {{^title}}none{{/title}}</p>\n  text\n<i>"
          .utf8)
    ])
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try TemplateLibrary(folder: folder.path())
    let page = try library.template("page", for: TeamPage.self).render(TeamPage(title: "x"))
    #expect(String(decoding: page, as: UTF8.self) == "<p><b>x</b></p>\n  text\n<i>")
  }

  @Test func `an error after a continued line names its own line`() throws {
    let folder = try folder(["page.mustache": Array("<p>\n  <b>\n  </b>{{missing}}".utf8)])
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = try TemplateLibrary(folder: folder.path())
    let fault = #expect(throws: TemplateError.self) {
      try library.template("page", for: TeamPage.self)
    }
    #expect(fault?.line == 3)
  }

  @Test func `an error names the file relative to the folder`() throws {
    let folder = try folder(["users/list.mustache": Array("\n{{#a}}".utf8)])
    defer { try? FileManager.default.removeItem(at: folder) }
    let fault = #expect(throws: TemplateError.self) {
      try TemplateLibrary(folder: folder.path())
    }
    #expect(fault?.file == "users/list.mustache")
    #expect(fault?.line == 2)
  }

  @Test func `a file that isn't UTF-8 is rejected`() throws {
    let folder = try folder(["page.mustache": [0xC3, 0x28]])
    defer { try? FileManager.default.removeItem(at: folder) }
    let fault = #expect(throws: TemplateError.self) {
      try TemplateLibrary(folder: folder.path())
    }
    #expect(fault?.description == "page.mustache: the file isn't UTF-8")
  }

  @Test func `a folder that can't be read is named with the reason`() throws {
    let missing = #expect(throws: TemplateError.self) {
      try TemplateLibrary(folder: "/nowhere/at/all")
    }
    #expect(missing?.description == "/nowhere/at/all can't be read: No such file or directory")
    let folder = try folder(["page.mustache": []])
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.path + "/page.mustache"
    let fault = #expect(throws: TemplateError.self) { try TemplateLibrary(folder: file) }
    #expect(fault?.description == "\(file) can't be read: Not a directory")
  }

  @Test func `a template that can't be read is named with the reason`() throws {
    let folder = try folder(["page.mustache": [], "users/list.mustache/x": []])
    defer { try? FileManager.default.removeItem(at: folder) }
    let fault = #expect(throws: TemplateError.self) { try TemplateLibrary(folder: folder.path) }
    #expect(
      fault?.description == "\(folder.path)/users/list.mustache can't be read: Is a directory")
    #expect(fault?.isTemporary == false)
  }

  @Test func `one template renders on many threads`() async throws {
    let library = try TemplateLibrary(sources: ["page": "{{#members}}{{name}}{{/members}}"])
    let template = try library.template("page", for: TeamPage.self)
    let pages = await withTaskGroup(of: [UInt8].self, returning: Set<[UInt8]>.self) { group in
      for _ in 0..<200 { group.addTask { template.render(TeamPage()) } }
      return await group.reduce(into: []) { $0.insert($1) }
    }
    #expect(pages == [Array("AdaGrace".utf8)])
  }
}
