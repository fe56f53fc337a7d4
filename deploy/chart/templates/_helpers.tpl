{{- define "easeml.labels" -}}
app.kubernetes.io/name: easeml
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "easeml.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- /* What every pod may, and may not. */ -}}
{{- define "easeml.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false  # of a Service named easeml they are EASEML_PORT and its like: settings
terminationGracePeriodSeconds: 60
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "easeml.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}
